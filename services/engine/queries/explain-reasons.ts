/**
 * What stands in the way of an item, in words: each reason with the step that clears it.
 * Other agents are never named, only that they are there and until when.
 */
import type { HeldAncestorRow } from "../../../db/stores/item-read-store.ts";
import type { IncomingEdgeRow } from "../../../db/stores/blocked-store.ts";
import type { ExplainReason } from "../../contract/operations/explain-item.ts";
import { isSatisfied } from "../../core/edges.ts";
import type { Asker, Obstacle } from "../../core/readiness.ts";
import type { LeaseObstacle } from "../../core/leases/hold-leases.ts";
import type { ItemState } from "../../core/state.ts";
import { clipText } from "../../core/texts/clip-text.ts";

/** Enough of a title to know the item by; its id stands beside it. */
export const TITLE_SHOWN = 120;

export interface Explained {
  readonly item: ItemState;
  readonly asker: Asker & { readonly session: string | null };
  readonly heldAncestors: readonly HeldAncestorRow[];
  /** Edges into the item and into its ancestors, by the item they lead to. */
  readonly edges: ReadonlyMap<string, readonly IncomingEdgeRow[]>;
  readonly titles: ReadonlyMap<string, string>;
  readonly onCancelled: "hold" | "release";
  readonly contended: LeaseObstacle | null;
  readonly now: number;
}

/** One obstacle can have several causes: three blockers are three reasons. */
export function reasonsFor(obstacle: Obstacle, about: Explained): ExplainReason[] {
  const { item, asker } = about;
  switch (obstacle.code) {
    case "dead":
      return [
        reason(
          "dead",
          `its ${item.attempts} attempts are used up`,
          "an operator, who can bring it back to the queue",
        ),
      ];
    case "role":
      return [roleReason(item)];
    case "claimed":
      return [claimedReason(about)];
    case "ancestor_claimed":
      return about.heldAncestors
        .filter((held) => held.agent !== asker.agent)
        .map((held) => ancestorClaimedReason(held, about));
    case "dependency_blocked":
      return blockerReasons(item.id, "dependency_blocked", about);
    case "ancestor_blocked":
      return item.ancestors.flatMap((id) => blockerReasons(id, "ancestor_blocked", about));
    case "not_yet":
      return [
        {
          ...reason(
            "not_yet",
            "it is waiting before its next attempt",
            "time: it is offered again by itself",
          ),
          ...until(obstacle.until),
        },
      ];
    case "container":
      return [
        reason(
          "container",
          `${item.openChildren} of its children ${item.openChildren === 1 ? "is" : "are"} still open`,
          "finishing its children; a selector with containers: true, or one that names its type, is offered it as it is",
        ),
      ];
    case "capabilities":
    case "assignee":
    case "independence":
      return [notForAsker(obstacle.code, about)];
    case "start_gate":
      return [
        reason("start_gate", "what must be written before it starts is missing", "writing the missing notes"),
      ];
    case "root_paused":
      return [
        {
          ...reason(
            "root_paused",
            "claiming in its root is paused: most attempts there failed for the environment's sake",
            "the next probe, one claim that is let through and succeeds; or an operator, who can reset the breaker",
          ),
          ...until(obstacle.until),
        },
      ];
    case "resources":
      return about.contended === null ? [] : [contendedReason(item, about.contended, obstacle.until)];
  }
}

/** Others may be offered it. */
function notForAsker(
  code: "capabilities" | "assignee" | "independence",
  { item, asker }: Explained,
): ExplainReason {
  switch (code) {
    case "capabilities": {
      const missing = item.needs.filter((need) => !asker.capabilities.includes(need));
      return reason(
        code,
        `it needs ${missing.join(", ")}`,
        "asking with these capabilities, or changing what the item needs",
      );
    }
    case "assignee":
      return reason(
        code,
        "it is assigned to another agent",
        "asking as its assignee, or changing or clearing the assignee",
      );
    case "independence":
      return reason(
        code,
        "you wrote what its review must be independent of",
        "somebody else, who can claim and review it; an operator can take it past a review that nobody may do",
      );
  }
}

/** An item in the queue may be claimed all the same; only its start has to wait. */
function contendedReason(
  item: ItemState,
  { keys, ahead }: LeaseObstacle,
  goesBy: number | null,
): ExplainReason {
  const taken = `it needs ${keys.join(", ")}, which ${keys.length === 1 ? "is" : "are"} taken`;
  const line = ahead === 0 ? "" : `, and ${ahead} asked before`;
  const effect = item.role === "queue" ? "it can be claimed and not started: " : "";
  return {
    ...reason(
      "resource_unavailable",
      `${effect}${taken}${line}`,
      "whoever has it leaving work; starting it as its holder keeps a place in the line",
    ),
    ...until(goesBy),
  };
}

function reason(code: string, message: string, clearedBy: string): ExplainReason {
  return { code, message, clearedBy };
}

function until(at: number | null): { until?: string } {
  return at === null ? {} : { until: new Date(at).toISOString() };
}

function roleReason(item: ItemState): ExplainReason {
  if (item.role === "terminal") {
    return reason(
      "role",
      `it is closed (${item.outcome ?? "done"})`,
      "trigger reopen, if there is more to do",
    );
  }
  return item.previousRole === null
    ? reason("role", "it is on hold and has no role to go back to", "trigger cancel")
    : reason("role", "it is on hold", `trigger resume, which brings it back to ${item.previousRole}`);
}

function claimedReason({ item, asker, now }: Explained): ExplainReason {
  const { claim } = item;
  const expiresAt = claim?.expiresAt ?? now;
  const mine = claim !== null && claim.agent === asker.agent && claim.session === asker.session;
  if (expiresAt <= now) {
    return {
      ...reason(
        "claimed",
        "its claim has lapsed and nobody has ended it yet",
        "the next claim that wants it, or the next sweep, which frees it",
      ),
      ...until(expiresAt),
    };
  }
  return {
    ...(mine
      ? reason("claimed", "you hold it", "going on with it; a release gives it back")
      : reason(
          "claimed",
          "it is claimed",
          "the end of the claim: its holder finishes or releases it, or it lapses",
        )),
    ...until(expiresAt),
  };
}

function ancestorClaimedReason(held: HeldAncestorRow, { titles, now }: Explained): ExplainReason {
  const expiresAt = held.expires_at.getTime();
  const lapsed = expiresAt <= now ? ", though that claim has lapsed" : "";
  return {
    ...reason(
      "ancestor_claimed",
      `another agent holds the item above it, ${quoted(held.item_id, titles)}${lapsed}`,
      "the end of that claim; a claim by id is possible meanwhile",
    ),
    itemId: held.item_id,
    ...until(expiresAt),
  };
}

function blockerReasons(
  waiting: string,
  code: "dependency_blocked" | "ancestor_blocked",
  about: Explained,
): ExplainReason[] {
  return (about.edges.get(waiting) ?? [])
    .filter(
      (edge) =>
        !isSatisfied(
          { threshold: edge.unblock_at ?? "terminal", onCancelled: edge.on_cancelled ?? about.onCancelled },
          edge,
        ),
    )
    .map((edge) => {
      const subject =
        code === "dependency_blocked" ? "it" : `the item above it, ${quoted(waiting, about.titles)},`;
      return {
        ...reason(
          code,
          `${subject} waits for "${clipText(edge.title, TITLE_SHOWN)}" (${edge.from_item}), which is ${stateOf(edge)}`,
          clearing(edge),
        ),
        itemId: edge.from_item,
      };
    });
}

function stateOf(edge: IncomingEdgeRow): string {
  if (edge.outcome === "cancelled") return "cancelled";
  return edge.dead ? "dead" : edge.role;
}

function clearing(edge: IncomingEdgeRow): string {
  const threshold = edge.unblock_at ?? "terminal";
  const goal = threshold === "terminal" ? "finishing it" : `bringing it to ${threshold}`;
  if (edge.outcome === "cancelled") return "reopening and finishing it, or removing the dependency";
  if (edge.dead) return `an operator, who can bring it back; then ${goal}; or removing the dependency`;
  return edge.role === "blocked" ? `resuming it, then ${goal}` : goal;
}

function quoted(id: string, titles: ReadonlyMap<string, string>): string {
  return `"${clipText(titles.get(id) ?? "", TITLE_SHOWN)}" (${id})`;
}
