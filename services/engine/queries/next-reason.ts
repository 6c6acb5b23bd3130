/**
 * Why an item is recommended, and why here: a few words, most telling first. They are paid for in every entry,
 * so they say only what the entry itself does not.
 */
import type { Ranking } from "../../../db/stores/readiness-sql.ts";
import type { Role } from "../../core/roles.ts";

export interface Recommended {
  readonly role: Role;
  readonly priority: string;
  readonly attempts: number;
  /** Open items that wait for this one. */
  readonly holds_up: number;
  readonly held: boolean;
  readonly dead: boolean;
  /** Its due date has passed. */
  readonly overdue: boolean;
}

export interface Standing {
  /** The caller holds it. */
  readonly mine: boolean;
  /** It is assigned to the caller. */
  readonly assigned: boolean;
  readonly ranking: Ranking;
}

const BY_RANKING: Readonly<Record<Exclude<Ranking, "priority">, string>> = {
  oldest: "oldest first",
  newest: "newest first",
  fair: "turn of its root",
};

/** Of the role that an item is offered in; what waits in the queue needs no words. */
const BY_ROLE: Readonly<Partial<Record<Role, string>>> = {
  work: "begun, nobody on it",
  review: "to review",
  blocked: "on hold",
};

export function reasonFor(item: Recommended, { mine, assigned, ranking }: Standing): string {
  if (mine) return "yours already: go on";
  const words = [
    item.held ? "held by another" : item.dead ? "dead" : BY_ROLE[item.role],
    item.overdue ? "overdue" : undefined,
    assigned ? "assigned to you" : undefined,
    item.holds_up > 0 ? `unblocks ${item.holds_up}` : undefined,
    item.attempts > 0 ? `attempt ${item.attempts + 1}` : undefined,
    ranking === "priority" ? `${item.priority} priority` : BY_RANKING[ranking],
  ];
  return words.filter((word) => word !== undefined).join(", ");
}
