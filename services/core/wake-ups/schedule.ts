/**
 * What becomes of the planned instants of a schedule that have come. Pure: which instants those
 * are is for the calendar to say, and what a run does for the use case.
 */

/** What becomes of instants that nobody was there for: none, the last one, or the last few. */
export type Misfire = "skip" | "fire_once" | "catch_up";
/** What becomes of an instant that comes while what the one before has made is still open. */
export type Overlap = "allow" | "skip" | "queue";

/** Schedulers look every second; an instant that is older than this was missed. */
export const MISFIRE_GRACE_MS = 30_000;
/** More than this many do not wait for their turn. */
export const QUEUED_MAX = 100;

export interface MisfireRule {
  readonly misfire: Misfire;
  readonly catchUpMax: number;
}

/** First and last of the instants that do not run. */
export interface Missed {
  readonly from: number;
  readonly until: number;
}

export type DueStep =
  | { readonly kind: "none" }
  | { readonly kind: "skip"; readonly missed: Missed }
  | { readonly kind: "fire"; readonly plannedAt: number; readonly missed: Missed | null };

/** How many of the latest instants a decision has to know. */
export function instantsNeeded({ misfire, catchUpMax }: MisfireRule): number {
  // With those that are not late yet: the shortest interval is ten seconds.
  return (misfire === "catch_up" ? catchUpMax : 1) + MISFIRE_GRACE_MS / 1000;
}

/**
 * The next step of a schedule; it is asked again after each.
 * @param first the earliest instant that has come and has not been settled
 * @param latest the latest of those that have come, in order; all of them if they are few
 */
export function decideDue(first: number, latest: readonly number[], rule: MisfireRule, now: number): DueStep {
  const oldest = latest[0];
  const newest = latest.at(-1);
  if (oldest === undefined || newest === undefined) return { kind: "none" };
  const isMissed = (at: number): boolean => now - at > MISFIRE_GRACE_MS;
  if (!isMissed(first)) return { kind: "fire", plannedAt: oldest, missed: null };
  const kept = keptOf(latest, rule, isMissed);
  const next = kept[0];
  if (next === undefined) return { kind: "skip", missed: { from: first, until: newest } };
  const before = latest.findLast((at) => at < next) ?? first;
  return { kind: "fire", plannedAt: next, missed: first < next ? { from: first, until: before } : null };
}

function keptOf(
  latest: readonly number[],
  { misfire, catchUpMax }: MisfireRule,
  isMissed: (at: number) => boolean,
): readonly number[] {
  switch (misfire) {
    case "skip":
      return latest.filter((at) => !isMissed(at));
    case "fire_once":
      return latest.slice(-1);
    case "catch_up":
      return latest.slice(-catchUpMax);
  }
}

/** Whether an instant runs now, is dropped, or waits until what is open has ended. */
export function decideOverlap(
  overlap: Overlap,
  { open, queued }: { readonly open: boolean; readonly queued: number },
): "run" | "skip" | "queue" | "queue_full" {
  // Those that wait already come first.
  if (overlap === "allow" || (!open && queued === 0)) return "run";
  if (overlap === "skip") return open ? "skip" : "run";
  return queued < QUEUED_MAX ? "queue" : "queue_full";
}
