/**
 * When a schedule's rule is met. Cron is read in the schedule's own zone: an instant that a
 * change of the clocks leaves out comes at the first one that there is again, and one that the
 * change repeats comes the first time. Intervals are real time and know no zone.
 */
import { Cron } from "croner";
import { fault } from "../../contract/errors.ts";

export interface Rule {
  /** Five fields; null: an interval. */
  readonly cron: string | null;
  readonly everySeconds: number | null;
  /** No instant is before this one; intervals are counted from it. Milliseconds, a whole second. */
  readonly startsAt: number;
  readonly timezone: string;
}

/** @throws MusterError invalid_timezone, invalid_schedule */
export function checkRule(rule: Rule): void {
  if (!isZone(rule.timezone))
    throw fault("invalid_timezone", `"${rule.timezone.slice(0, 60)}" is not a zone of the IANA database`);
  if (rule.cron === null) return;
  try {
    read(rule.cron, rule.timezone);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw fault("invalid_schedule", `cron "${rule.cron}" cannot be read: ${why}`, { cause: error });
  }
  if (nextAfter(rule, rule.startsAt - 1) === null)
    throw fault("invalid_schedule", `cron "${rule.cron}" is never met`);
}

function isZone(name: string): boolean {
  // An offset is no zone: it does not know when the clocks change.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function read(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, paused: true, mode: "5-part" });
}

/** The first instant after this one; null: there is none. */
export function nextAfter(rule: Rule, after: number): number | null {
  return upcoming(rule, after, 1)[0] ?? null;
}

/** The next so many instants after this one. */
export function upcoming(rule: Rule, after: number, count: number): number[] {
  const { cron, everySeconds, startsAt, timezone } = rule;
  const from = Math.max(after, startsAt - 1);
  if (cron !== null) {
    return read(cron, timezone)
      .nextRuns(count, new Date(from))
      .map((at) => at.getTime());
  }
  const everyMs = (everySeconds ?? 1) * 1000;
  const first = startsAt + Math.max(0, Math.floor((from - startsAt) / everyMs) + 1) * everyMs;
  return Array.from({ length: count }, (_, index) => first + index * everyMs);
}

const HOUR_MS = 3_600_000;

/**
 * The latest instants from `first`, which is one, up to and with `until`: at most so many of
 * them, in order. A schedule that nobody was there for may have missed a million.
 */
export function latestUpTo(rule: Rule, first: number, until: number, count: number): number[] {
  for (let back = HOUR_MS; ; back *= 2) {
    const from = Math.max(first, until - back);
    const found: number[] = [];
    for (let at = nextAfter(rule, from - 1); at !== null && at <= until; at = nextAfter(rule, at))
      found.push(at);
    if (found.length >= count || from === first) return found.slice(-count);
  }
}
