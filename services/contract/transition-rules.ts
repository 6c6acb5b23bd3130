/** What the fields of one transition ask of each other. */
import type { AddFault } from "./cross-field.ts";

type Call = Readonly<Record<string, unknown>>;

export function failOnly(move: Call, at: readonly (string | number)[], add: AddFault): void {
  const failing = typeof move.trigger === "string" && move.trigger.toLowerCase() === "fail";
  if (move.class !== undefined && !failing) {
    add([...at, "class"], 'belongs to trigger "fail" only; leave it out');
  }
  if (failing && (typeof move.reason !== "string" || move.reason.trim() === "")) {
    add([...at, "reason"], 'is needed with trigger "fail": say what went wrong, for whoever tries next');
  }
}

/** Whoever looks at it later has to see who decided that, and why. */
export function overrideSays(
  move: Call,
  callActor: unknown,
  at: readonly (string | number)[],
  add: AddFault,
): void {
  if (!isOverride(move.override)) return;
  if (typeof move.reason !== "string" || move.reason.trim() === "") {
    add([...at, "reason"], "is needed with override: say why, for whoever looks at it later");
  }
  if ((move.actor ?? callActor) === undefined) add(["actor"], "is needed with override: who decides?");
}

const isOverride = (value: unknown): boolean => value === true || value === "true";
