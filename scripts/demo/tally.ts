/**
 * The account of a run. Two witnesses are heard: the files that the workers wrote, and Muster.
 * Every task must have been finished once, and both must say the same.
 */
import { type JournalLine, type StartedLine, tenureOf } from "./journal.ts";

/** What Muster says about an item at the end. */
export interface ItemEnd {
  readonly title: string;
  readonly role: string;
  readonly outcome: string | null | undefined;
  readonly isClaimed: boolean;
}

export interface Evidence {
  /** Items that are worked on. */
  readonly tasks: readonly string[];
  /** Items that close when what is below them is done. */
  readonly containers: readonly string[];
  readonly items: ReadonlyMap<string, ItemEnd>;
  /** Claims that are still held. */
  readonly held: number;
  /** The journal of each worker. */
  readonly journals: ReadonlyMap<string, readonly JournalLine[]>;
  /** How each worker ended. */
  readonly ends: ReadonlyMap<string, number | NodeJS.Signals>;
  /** Who was killed, and the item that was held then. */
  readonly killed: { readonly worker: string; readonly itemId: string } | null;
}

export interface Account {
  readonly items: { readonly planted: number; readonly done: number };
  /** Tasks that workers finished, by their files; and that are done, by Muster. */
  readonly finished: { readonly files: number; readonly muster: number };
  /** Tries, by the files; and by Muster, which numbers those of each item. What is handed back is no try. */
  readonly attempts: { readonly files: number; readonly muster: number };
  /** Items that went on with another worker after theirs had vanished. */
  readonly takeovers: { readonly files: number; readonly muster: number };
  /** Finishes of a task beyond its first. */
  readonly duplicates: number;
  readonly workers: readonly { readonly name: string; readonly finished: number; readonly killed: boolean }[];
  /** What is wrong; empty when every item was done exactly once. */
  readonly problems: readonly string[];
}

export function accountOf(evidence: Evidence): Account {
  const { tasks, containers, items, journals, killed } = evidence;
  const lines = [...journals.values()].flat();
  const finished = countBy(lines.filter(({ kind }) => kind === "finished"));
  const started = lines.filter((line) => line.kind === "started");
  const isDone = (id: string): boolean => {
    const end = items.get(id);
    return end?.role === "terminal" && end.outcome === "done";
  };
  const counted = {
    items: {
      planted: tasks.length + containers.length,
      done: [...tasks, ...containers].filter(isDone).length,
    },
    finished: { files: sum(finished.values()), muster: tasks.filter(isDone).length },
    attempts: { files: triedIn(lines, started).length, muster: sum(triesOf(started).values()) },
    takeovers: {
      files: vanishedOf(lines, started).length,
      muster: sum([...triesOf(started).values()].map((tries) => tries - 1)),
    },
    duplicates: sum([...finished.values()].map((times) => times - 1)),
    workers: [...journals].map(([name, own]) => ({
      name,
      finished: own.filter(({ kind }) => kind === "finished").length,
      killed: killed?.worker === name,
    })),
  };
  return { ...counted, problems: problemsOf(evidence, counted, finished, isDone) };
}

function problemsOf(
  evidence: Evidence,
  counted: Omit<Account, "problems">,
  finished: ReadonlyMap<string, number>,
  isDone: (id: string) => boolean,
): readonly string[] {
  const { tasks, containers, items, held, journals, ends, killed } = evidence;
  const title = (id: string): string => `"${items.get(id)?.title ?? id}"`;
  const known = new Set(tasks);
  const { attempts, takeovers } = counted;
  return [
    ...[...tasks, ...containers]
      .filter((id) => !isDone(id))
      .map((id) => {
        const { role = "missing", outcome } = items.get(id) ?? {};
        return `${title(id)} is not done: Muster says ${role}${outcome ? ` (${outcome})` : ""}.`;
      }),
    ...tasks.filter((id) => !finished.has(id)).map((id) => `Nobody finished ${title(id)}.`),
    ...[...finished]
      .filter(([, times]) => times > 1)
      .map(([id, times]) => `${title(id)} was finished ${times} times.`),
    ...[...finished.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `${title(id)} was finished, and is no task.`),
    ...[...items].filter(([, { isClaimed }]) => isClaimed).map(([id]) => `${title(id)} is still claimed.`),
    ...(held > 0 ? [`${held} claims are still held.`] : []),
    ...differs("attempts", attempts),
    ...differs("takeovers", takeovers),
    ...(killed !== null && !takenOver(killed, journals)
      ? [`Nobody took over ${title(killed.itemId)}, which ${killed.worker} held when it was killed.`]
      : []),
    ...[...ends]
      .filter(([name, end]) => end !== (name === killed?.worker ? "SIGKILL" : 0))
      .map(([name, end]) => `${name} ended with ${end}.`),
  ];
}

function differs(what: string, { files, muster }: { files: number; muster: number }): readonly string[] {
  return files === muster ? [] : [`The workers' files tell of ${files} ${what}, Muster of ${muster}.`];
}

function triedIn(lines: readonly JournalLine[], started: readonly StartedLine[]): readonly StartedLine[] {
  const handedBack = new Set(
    lines.filter((line) => line.kind === "ended" && line.how === "handed_back").map(tenureOf),
  );
  return started.filter((line) => !handedBack.has(tenureOf(line)));
}

/** By item, the highest number that Muster gave a try. */
function triesOf(started: readonly StartedLine[]): ReadonlyMap<string, number> {
  const tries = new Map<string, number>();
  for (const { itemId, attempt } of started) tries.set(itemId, Math.max(attempt, tries.get(itemId) ?? 0));
  return tries;
}

/** Tenures that another one followed without their worker having said how they ended, or having said that they were lost. */
function vanishedOf(lines: readonly JournalLine[], started: readonly StartedLine[]): readonly StartedLine[] {
  const handled = new Set(
    lines
      .filter((line) => line.kind === "finished" || (line.kind === "ended" && line.how !== "lost"))
      .map(tenureOf),
  );
  return started.filter(
    (line) =>
      !handled.has(tenureOf(line)) &&
      started.some(({ itemId, fence }) => itemId === line.itemId && fence > line.fence),
  );
}

function takenOver(
  killed: NonNullable<Evidence["killed"]>,
  journals: ReadonlyMap<string, readonly JournalLine[]>,
): boolean {
  return [...journals].some(
    ([name, lines]) =>
      name !== killed.worker &&
      lines.some(({ kind, itemId }) => kind === "finished" && itemId === killed.itemId),
  );
}

function countBy(lines: readonly JournalLine[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { itemId } of lines) counts.set(itemId, 1 + (counts.get(itemId) ?? 0));
  return counts;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}

/** The account as it is printed. The first line of a good end is fixed: programs look for it. */
export function accountText(account: Account, seconds: number): string {
  const { items, finished, attempts, takeovers, duplicates, workers, problems } = account;
  const row = (what: string, files: number | string, muster: number | string): string =>
    `  ${what.padEnd(22)}${String(files).padStart(15)}${String(muster).padStart(10)}`;
  const verdict =
    problems.length === 0
      ? `Every item was done exactly once: ${items.done} of ${items.planted} in ${seconds.toFixed(1)} s.`
      : `Something is wrong after ${seconds.toFixed(1)} s:`;
  return [
    row("", "workers' files", "Muster"),
    row("tasks finished", finished.files, finished.muster),
    row("attempts", attempts.files, attempts.muster),
    row("takeovers", takeovers.files, takeovers.muster),
    row("finished twice", duplicates, "-"),
    row("items done", "-", `${items.done}/${items.planted}`),
    "",
    `  ${workers.map(({ name, finished, killed }) => `${name} ${finished}${killed ? " (killed)" : ""}`).join(", ")}`,
    "",
    verdict,
    ...problems.map((problem) => `  - ${problem}`),
  ].join("\n");
}
