/**
 * Is this item offered to this caller? The one answer behind claims, recommendations,
 * lists, `explain` and the console. Its twin in SQL is `db/stores/readiness-sql.ts`; a
 * property test holds the two equal on random graphs.
 *
 * Claims by id do not ask: they only warn.
 */
import type { Role } from "./roles.ts";
import type { ItemState } from "./state.ts";

export type ObstacleCode =
  | "role"
  | "dead"
  | "claimed"
  | "ancestor_claimed"
  | "dependency_blocked"
  | "ancestor_blocked"
  | "not_yet"
  | "container"
  | "capabilities"
  | "assignee"
  | "independence"
  | "root_paused"
  | "start_gate"
  | "resources";

export interface Obstacle {
  readonly code: ObstacleCode;
  /** Milliseconds of the database's clock at which it goes by itself, if it does. */
  readonly until: number | null;
}

/** What is asked for. */
export interface Offer {
  readonly roles: readonly Role[];
  /** Items with open children are offered too: asked for, or implied by naming a type. */
  readonly containers: boolean;
  readonly startable: boolean;
}

export interface Asker {
  readonly agent: string | null;
  readonly capabilities: readonly string[];
}

/** A claim on an ancestor, as far as it stands in the way. */
export interface HeldAncestor {
  readonly agent: string;
  readonly expiresAt: number;
}

export interface ReadinessSubject {
  readonly item: ItemState;
  readonly heldAncestors: readonly HeldAncestor[];
  /** What stands against its having what it needs in work; null or absent if nothing does. */
  readonly contended?: { readonly retryAfterMs: number } | null;
  /** The breaker of its root is open; `until` its next probe, if none is under way. Absent or null: it is not. */
  readonly paused?: { readonly until: number | null } | null;
}

/** Everything that stands against offering the item, in the order in which it is best told. Empty: it is offered. */
export function findObstacles(
  subject: ReadinessSubject,
  asker: Asker,
  offer: Offer,
  now: number,
): Obstacle[] {
  const { item, heldAncestors } = subject;
  const obstacles: Obstacle[] = [];
  const add = (code: ObstacleCode, until: number | null = null): void => void obstacles.push({ code, until });

  if (item.dead) add("dead");
  else if (!offer.roles.includes(item.role)) add("role");
  if (item.claim !== null) add("claimed", item.claim.expiresAt);
  const inTheWay = heldAncestors.filter((holder) => holder.agent !== asker.agent);
  if (inTheWay.length > 0) add("ancestor_claimed", Math.max(...inTheWay.map((holder) => holder.expiresAt)));
  if (item.blockers > 0) add("dependency_blocked");
  if (item.ancestorBlockers > 0) add("ancestor_blocked");
  if (item.availableAt !== null && item.availableAt > now) add("not_yet", item.availableAt);
  if (item.openChildren > 0 && !offer.containers) add("container");
  if (!item.needs.every((need) => asker.capabilities.includes(need))) add("capabilities");
  if (item.assignee !== null && item.assignee !== asker.agent) add("assignee");
  if (item.role === "review" && asker.agent !== null && item.reviewExcludes.includes(asker.agent)) {
    add("independence");
  }
  if (subject.paused) add("root_paused", subject.paused.until);
  if (offer.startable && item.role === "queue" && !item.startGateOpen) add("start_gate");
  // Work that nobody holds goes on with what it needs, or not at all.
  const entersWork = item.role === "work" || (offer.startable && item.role === "queue");
  if (subject.contended && entersWork) add("resources", now + subject.contended.retryAfterMs);
  return obstacles;
}

/** The roles that a selector means when it does not say: with `start`, stalled work first. */
export function defaultRoles(start: boolean): readonly Role[] {
  return start ? ["work", "queue"] : ["queue"];
}
