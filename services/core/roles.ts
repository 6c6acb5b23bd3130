/**
 * The state machine of an item: one table of roles and triggers.
 *
 *   queue ──start──▶ work ──start──▶ review ──start──▶ terminal
 *     ▲               │ │              │
 *     └──requeue/fail─┘ └──start/complete (no review phase)──▶ terminal
 *                     ▲                │
 *                     └────rework──────┘
 *   any open role ──block/hold──▶ blocked ──resume──▶ the role before
 *   any open role ──cancel──▶ terminal ──reopen──▶ queue
 *
 * `block` and `hold` differ only in their label. `fail` ends an attempt badly; where the
 * item goes from there is a matter of the retry rules (`retry.ts`).
 */
export const ROLES = ["queue", "work", "review", "blocked", "terminal"] as const;
export type Role = (typeof ROLES)[number];

export const TRIGGERS = [
  "start",
  "complete",
  "block",
  "hold",
  "resume",
  "cancel",
  "reopen",
  "requeue",
  "rework",
  "fail",
] as const;
export type Trigger = (typeof TRIGGERS)[number];

export type OpenRole = Exclude<Role, "terminal">;
export type ResumableRole = "queue" | "work" | "review";
export type Outcome = "done" | "cancelled";
export type Priority = "high" | "medium" | "low";

/** How the schema of an item wants its parent cascades. */
export type Lifecycle = "auto" | "manual" | "permanent";

export type Resolution =
  | { readonly kind: "to"; readonly role: Role; readonly outcome: Outcome | null }
  | { readonly kind: "refused"; readonly message: string };

/** Forward order of the roles that an edge's threshold and the dependency gate know. */
const ORDER: Readonly<Record<Role, number>> = { queue: 0, work: 1, review: 2, terminal: 3, blocked: -1 };

/** True if the move goes forward between roles other than `blocked`. */
export function isForward(from: Role, to: Role): boolean {
  return from !== "blocked" && to !== "blocked" && ORDER[to] > ORDER[from];
}

/** Has a blocker in `role` come as far as `threshold`? One that is itself blocked satisfies nothing. */
export function reaches(role: Role, threshold: Role): boolean {
  return role !== "blocked" && ORDER[role] >= ORDER[threshold];
}

const to = (role: Role, outcome: Outcome | null = null): Resolution => ({ kind: "to", role, outcome });
const refused = (message: string): Resolution => ({ kind: "refused", message });

export interface TransitionSubject {
  readonly role: Role;
  readonly previousRole: ResumableRole | null;
  readonly hasReviewPhase: boolean;
}

/** Where a trigger leads, before gates, dependencies and claims are asked. */
export function resolveTransition(item: TransitionSubject, trigger: Trigger): Resolution {
  const { role } = item;
  if (role === "terminal" && trigger !== "reopen") {
    return refused(`the item is already terminal: only reopen applies`);
  }
  switch (trigger) {
    case "start":
      if (role === "queue") return to("work");
      if (role === "work") return item.hasReviewPhase ? to("review") : to("terminal", "done");
      if (role === "review") return to("terminal", "done");
      return refused("the item is blocked: resume it first");
    case "complete":
      return role === "blocked" ? refused("the item is blocked: resume it first") : to("terminal", "done");
    case "block":
    case "hold":
      return role === "blocked" ? refused("the item is already blocked") : to("blocked");
    case "resume":
      if (role !== "blocked") return refused(`the item is not blocked: it is in ${role}`);
      if (item.previousRole === null) return refused("nothing to resume to: cancel the item instead");
      return to(item.previousRole);
    case "cancel":
      return to("terminal", "cancelled");
    case "reopen":
      return role === "terminal" ? to("queue") : refused(`the item is not terminal: it is in ${role}`);
    case "requeue":
      return role === "work"
        ? to("queue")
        : refused(`only an item in work can be requeued: it is in ${role}`);
    case "rework":
      return role === "review" ? to("work") : refused(`only an item in review can go back: it is in ${role}`);
    case "fail":
      if (role === "work") return to("queue");
      if (role === "review") return to("review");
      return refused(`only an item in work or review can fail: it is in ${role}`);
  }
}

/** What items wear where no labels are configured. */
export const DEFAULT_LABELS: Readonly<Partial<Record<Trigger | "cascade", string>>> = {
  start: "in-progress",
  complete: "done",
  block: "blocked",
  cancel: "cancelled",
  cascade: "done",
};

/**
 * The label an item wears after a move. A start that lands in terminal is a completion;
 * entering `blocked` without a label keeps the old one; every other unlabelled move clears it.
 */
export function labelAfter(
  trigger: Trigger | "cascade",
  target: Role,
  current: string | null,
  labels: Readonly<Partial<Record<Trigger | "cascade", string | null>>> = DEFAULT_LABELS,
): string | null {
  const named = trigger === "start" && target === "terminal" ? "complete" : trigger;
  // A parent that is pulled to work by its child is in progress, never "done".
  const key = named === "cascade" && target === "work" ? "start" : named;
  const label = labels[key] ?? null;
  if (label !== null) return label;
  return target === "blocked" ? current : null;
}
