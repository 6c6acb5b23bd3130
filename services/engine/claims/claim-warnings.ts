/**
 * A claim by id is given to whoever names the item, ready or not; so the answer says what
 * was not asked. The same obstacles that keep the item out of the offers, in words, and
 * never who is behind them.
 */
import { readHeldAncestors } from "../../../db/stores/item-read-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { findObstacles, type Obstacle } from "../../core/readiness.ts";
import type { ItemState } from "../../core/state.ts";
import type { ClaimCall } from "./claim-call.ts";

export interface Taken {
  readonly call: ClaimCall;
  /** The item as it stood before it was claimed. */
  readonly before: ItemState;
}

/** Warnings by call, for claims by id; one statement, and none when all items are roots. */
export async function warnAbout(
  tx: Handle,
  taken: readonly Taken[],
  now: number,
  breakers: ReadonlySet<string>,
): Promise<Map<ClaimCall, string[]>> {
  const ancestors = [...new Set(taken.flatMap(({ before }) => before.ancestors))];
  const rows = await readHeldAncestors(tx, ancestors);
  const held = new Map(
    rows.map((row) => [row.item_id, { agent: row.agent, expiresAt: row.expires_at.getTime() }]),
  );
  return new Map(
    taken.map(({ call, before }) => {
      // Its own claim, role and children are no news to whoever named it.
      const item = { ...before, claim: null };
      const heldAncestors = before.ancestors.flatMap((id) => held.get(id) ?? []);
      const paused = breakers.has(before.rootId) ? { until: null } : null;
      const offer = { roles: [before.role], containers: true, startable: false };
      const obstacles = findObstacles({ item, heldAncestors, paused }, call, offer, now);
      return [call, obstacles.flatMap((obstacle) => warning(obstacle, before))];
    }),
  );
}

function warning({ code, until }: Obstacle, item: ItemState): string[] {
  switch (code) {
    case "dependency_blocked":
      return [
        `the item waits for ${item.blockers} unsatisfied ${item.blockers === 1 ? "dependency" : "dependencies"} and cannot be started yet`,
      ];
    case "ancestor_blocked":
      return ["a container above it waits for an unsatisfied dependency"];
    case "ancestor_claimed":
      return ["a container above it is claimed by another agent"];
    case "not_yet":
      return [`it was not to be offered before ${new Date(until ?? 0).toISOString()}`];
    case "capabilities":
      return ["it needs capabilities that this call does not name"];
    case "assignee":
      return ["it is meant for another agent"];
    case "independence":
      return ["you wrote what its review must be independent of: a verdict of yours will be refused"];
    case "root_paused":
      return ["claiming in its root is paused: most attempts there failed for the environment's sake"];
    case "role":
    case "dead":
    case "claimed":
    case "container":
    case "start_gate":
    case "resources":
      return [];
  }
}
