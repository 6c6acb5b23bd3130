/** What came of a call as a whole, read from its answer: batches answer what failed beside what did not. */
import type { CallOutcome } from "./call-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Answers by which an element says that nothing came of it. */
const NOT_DONE = new Set(["applied", "outcome", "errorCode"]);

export function outcomeOf(output: Fields): CallOutcome {
  const elements = Object.values(output).flatMap((value): readonly unknown[] =>
    Array.isArray(value) ? value : [],
  );
  const judged = elements.filter(isFields).filter((one) => Object.keys(one).some((key) => NOT_DONE.has(key)));
  const failures = judged.filter(isRefused);
  const [first] = failures;
  if (first === undefined) return { outcome: "ok", code: null };
  const done =
    judged.length - failures.length + elements.filter((one) => !judged.includes(one as Fields)).length;
  return { outcome: done > 0 ? "partial" : "refused", code: codeOf(first) };
}

function isRefused(element: Fields): boolean {
  if (element["applied"] === false || typeof element["errorCode"] === "string") return true;
  const { outcome } = element;
  return typeof outcome === "string" && !DONE.has(outcome);
}

const DONE = new Set(["success", "deleted", "applied", "skipped"]);

function codeOf({ errorCode, outcome }: Fields): string | null {
  if (typeof errorCode === "string") return errorCode;
  return typeof outcome === "string" ? outcome : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing matched, or nothing was free: asked for again and again by whoever waits for work. */
const FOUND_NOTHING = new Set(["queue_empty", "none_eligible", "no_match"]);

/**
 * Calls that leave no row: heartbeats, which are most of all calls and change nothing but when
 * somebody was last heard, and claims that found nothing to take.
 */
export function isQuiet(operation: string, input: unknown, outcome: CallOutcome): boolean {
  if (operation !== "claim_item" || !isFields(input)) return false;
  const size = (name: string): number => (Array.isArray(input[name]) ? input[name].length : 0);
  if (size("releases") > 0) return false;
  if (size("claims") > 0) return outcome.outcome === "refused" && FOUND_NOTHING.has(outcome.code ?? "");
  return !isForWantOfRight(outcome.code);
}

const WANT_OF_RIGHT = new Set(["insufficient_scope", "insufficient_capability", "rejected_by_policy"]);

/** Refused for who it was, and not for what it said or when it came. */
export function isForWantOfRight(code: string | null): boolean {
  return code !== null && WANT_OF_RIGHT.has(code);
}
