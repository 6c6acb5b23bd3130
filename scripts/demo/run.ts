/** One run of the demo: plant, work, kill, watch, and give an account. */
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "../../services/worker-sdk/index.ts";
import type { Board, Seat } from "./board.ts";
import { type Crew, killInMidItem, startCrew, type Victim } from "./crew.ts";
import type { JournalLine } from "./journal.ts";
import { type PlantedTree, plantTree } from "./plant-tree.ts";
import type { DemoServers } from "./servers.ts";
import { type Account, accountOf, type ItemEnd } from "./tally.ts";
import { type Claim, createView, type View } from "./view.ts";

export interface RunOptions {
  readonly servers: DemoServers;
  readonly folder: string;
  /** Aborts when the run is to be given up. */
  readonly signal: AbortSignal;
  readonly board: Board;
}

export interface Ended {
  readonly account: Account;
  readonly seconds: number;
  /** What the workers warned of. */
  readonly output: string;
}

const WORKERS = ["worker-1", "worker-2", "worker-3", "worker-4", "worker-5", "worker-6"];
const TTL_SECONDS = 5;
const LOOK_EVERY_MS = 150;
/** A tree that is not done by then is not going to be: the account says what is missing. */
const DONE_MS_MAX = 50_000;

/** What happens to the run, by how much of the tree is done. */
const KILL_WORKER_AT = 0.2;
const KILL_API_AT = 0.5;

export async function runDemo(options: RunOptions): Promise<Ended> {
  const { servers, folder, board } = options;
  const urls = servers.apis.map(({ url }) => url);
  const client = createClient({ urls, agent: { id: "planner", kind: "orchestrator" } });
  try {
    const tree = await plantTree(client);
    const startedAtMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedAtMs;
    const total = 1 + tree.features.length + tree.tasks.length;
    board.tell(0, `planted ${total} items and ${tree.edges} dependencies below "${tree.root.title}"`);
    const view = createView(client, urls, tree.root.id);
    await using crew = startCrew({
      names: WORKERS,
      urls,
      rootId: tree.root.id,
      folder,
      ttlSeconds: TTL_SECONDS,
    });
    const victim = await watch({ ...options, crew, view, tree, total, elapsedMs });
    const seconds = elapsedMs() / 1_000;
    const ends = await crew.stop();
    const account = await giveAccount(tree, view, crew, ends, victim);
    const output = crew.workers.map(({ process: child }) => child.output()).join("");
    return { account, seconds, output };
  } finally {
    client.close();
  }
}

interface Watching extends RunOptions {
  readonly crew: Crew;
  readonly view: View;
  readonly tree: PlantedTree;
  readonly total: number;
  readonly elapsedMs: () => number;
}

/** Watches until the tree is done. Answers who was killed on the way. */
async function watch(watching: Watching): Promise<Victim | null> {
  const { crew, view, tree, total, servers, signal, board, elapsedMs } = watching;
  const [firstApi, secondApi] = servers.apis;
  const titles = new Map([...tree.features, ...tree.tasks].map(({ id, title }) => [id, title]));
  let victim: Victim | null = null;
  let isApiKilled = secondApi === undefined;
  for (;;) {
    signal.throwIfAborted();
    const [done, claims] = await Promise.all([view.doneCount(), view.claims()]);
    for (const { name, journal } of crew.workers) {
      for (const line of journal.readNew()) tellOf(board, elapsedMs(), name, line, titles);
    }
    board.show({ done, total, elapsedMs: elapsedMs(), seats: seatsOf(crew, claims, victim) });
    if (done >= total || elapsedMs() > DONE_MS_MAX) return victim;
    if (victim === null && done >= total * KILL_WORKER_AT) {
      victim = await killInMidItem(crew, view, signal);
      const { worker, line } = victim;
      board.tell(elapsedMs(), `${worker.name} was killed (SIGKILL) while it held "${line.title}"`);
    }
    if (!isApiKilled && done >= total * KILL_API_AT) {
      isApiKilled = true;
      await firstApi?.kill();
      board.tell(elapsedMs(), "api-1 was killed (SIGKILL); the workers go on with api-2");
    }
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

function seatsOf(crew: Crew, claims: readonly Claim[], victim: Victim | null): readonly Seat[] {
  return crew.workers.map(({ name }) => {
    const claim = claims.find(({ agent }) => agent === name);
    const holds = claim === undefined ? null : { title: claim.title, msLeft: claim.msLeft };
    if (name === victim?.worker.name) return { name, state: "killed", holds };
    return { name, state: holds === null ? "waiting" : "working", holds };
  });
}

function tellOf(
  board: Board,
  elapsedMs: number,
  name: string,
  line: JournalLine,
  titles: ReadonlyMap<string, string>,
): void {
  const title = `"${titles.get(line.itemId) ?? line.itemId}"`;
  if (line.kind === "finished") board.tell(elapsedMs, `${name} finished ${title}`);
  else if (line.kind === "ended")
    board.tell(elapsedMs, `${name} ${line.how.replace("_", " ")}: ${title}, ${line.reason}`);
  else if (line.attempt > 1) board.tell(elapsedMs, `${name} took over ${title}, attempt ${line.attempt}`);
}

async function giveAccount(
  tree: PlantedTree,
  view: View,
  crew: Crew,
  ends: ReadonlyMap<string, number | NodeJS.Signals>,
  victim: Victim | null,
): Promise<Account> {
  const items = new Map<string, ItemEnd>();
  for (const { id, title } of [tree.root, ...tree.features, ...tree.tasks]) {
    const { role, outcome, isClaimed = false } = await view.item(id);
    items.set(id, { title, role, outcome, isClaimed });
  }
  const journals = new Map<string, readonly JournalLine[]>();
  for (const { name, journal } of crew.workers) {
    journal.readNew();
    journals.set(name, journal.lines);
  }
  return accountOf({
    tasks: tree.tasks.map(({ id }) => id),
    containers: [tree.root, ...tree.features].map(({ id }) => id),
    items,
    held: (await view.claims()).length,
    journals,
    ends,
    killed: victim === null ? null : { worker: victim.worker.name, itemId: victim.line.itemId },
  });
}
