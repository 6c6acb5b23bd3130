/** The worker processes of the demo, and the accident that happens to one of them. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, startChild } from "./child.ts";
import { followJournal, type JournalTail, type StartedLine, tenureOf } from "./journal.ts";
import type { Claim, View } from "./view.ts";

export interface CrewOptions {
  readonly names: readonly string[];
  readonly urls: readonly string[];
  readonly rootId: string;
  /** For journals and output. */
  readonly folder: string;
  readonly slots?: number;
  readonly ttlSeconds: number;
  /** How long every item takes; by default its complexity decides. */
  readonly workMs?: number;
}

export interface Worker {
  readonly name: string;
  readonly process: Child;
  readonly journal: JournalTail;
}

export interface Crew extends AsyncDisposable {
  readonly workers: readonly Worker[];
  /** Lets them end by themselves; answers how each ended. */
  stop(): Promise<ReadonlyMap<string, number | NodeJS.Signals>>;
}

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
const LOOK_EVERY_MS = 10;
const CATCH_MS_MAX = 15_000;

export function startCrew(options: CrewOptions): Crew {
  const workers = options.names.map((name) => startWorker(name, options));
  const stop: Crew["stop"] = async () =>
    new Map(
      await Promise.all(workers.map(async ({ name, process: child }) => [name, await child.stop()] as const)),
    );
  return { workers, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

function startWorker(name: string, options: CrewOptions): Worker {
  const { urls, rootId, folder, slots = 1, ttlSeconds, workMs } = options;
  const path = join(folder, `${name}.jsonl`);
  const flags = {
    name,
    urls: urls.join(","),
    root: rootId,
    journal: path,
    slots: String(slots),
    ttl: String(ttlSeconds),
    ...(workMs === undefined ? {} : { "work-ms": String(workMs) }),
  };
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
  const logPath = join(folder, `${name}.log`);
  return {
    name,
    process: startChild({ args: [WORKER, ...args], logPath }),
    journal: followJournal(path),
  };
}

export interface Victim {
  readonly worker: Worker;
  /** What it holds and had just begun. */
  readonly line: StartedLine;
}

/**
 * Kills a worker in the middle of an item.
 * @throws Error when none can be caught there, as when nothing is left to work on.
 */
export async function killInMidItem(crew: Crew, view: View, signal: AbortSignal): Promise<Victim> {
  const deadline = performance.now() + CATCH_MS_MAX;
  for (let turn = 0; ; turn += 1) {
    signal.throwIfAborted();
    if (performance.now() > deadline) throw new Error("No worker could be caught in the middle of an item.");
    const worker = crew.workers[turn % crew.workers.length];
    if (worker === undefined) throw new Error("There is nobody to kill.");
    const [line] = await freezeInMidItem(worker, view);
    if (line !== undefined) {
      worker.process.signal("SIGKILL");
      return { worker, line };
    }
    await delay(LOOK_EVERY_MS);
  }
}

/**
 * Freezes a worker that holds items and has not handed them in. Only of a process that stands
 * still can that be said, by its own file and by the server: one that turns out to be between
 * two items goes on, and the answer is empty.
 */
export async function freezeInMidItem(worker: Worker, view: View): Promise<readonly StartedLine[]> {
  if (freshWork(worker).length === 0) return [];
  worker.process.signal("SIGSTOP");
  const fresh = freshWork(worker);
  const claims = fresh.length === 0 ? [] : await view.claims();
  const held = fresh.filter((line) => holds(claims, worker.name, line));
  if (held.length === 0) worker.process.signal("SIGCONT");
  return held;
}

/** What it works on and has only begun: of the rest the result may be on its way already. */
function freshWork({ journal }: Worker): readonly StartedLine[] {
  journal.readNew();
  const over = new Set(journal.lines.filter(({ kind }) => kind !== "started").map(tenureOf));
  return journal.lines.filter(
    (line): line is StartedLine =>
      line.kind === "started" && !over.has(tenureOf(line)) && Date.now() - line.at < line.workMs / 2,
  );
}

function holds(claims: readonly Claim[], agent: string, { itemId, fence }: StartedLine): boolean {
  return claims.some((claim) => claim.agent === agent && claim.itemId === itemId && claim.fence === fence);
}
