/**
 * May this caller write to this item? Advancing and deleting ask for the holder when an
 * item is held; edits and edges do not, since planners and reviewers make them. Every
 * door refuses the stale: a fence that does not match, or a session that lost the item
 * and has not claimed again.
 */
import { type Identity, isHolder, isLapsed, msUntilLapsed } from "./claim.ts";
import type { EndReason, ItemState } from "./state.ts";

export interface Writer {
  readonly agent: string | null;
  readonly session: string | null;
  readonly fence: number | null;
}

export type WriterVerdict =
  | { readonly kind: "ok" }
  /** The claim in the way has lapsed: end it first, then write. */
  | { readonly kind: "free_first" }
  /** The caller's own tenure is over. */
  | { readonly kind: "claim_lost" }
  | {
      readonly kind: "not_holder";
      readonly msLeft: number;
      readonly expired: boolean;
      readonly sameAgent: boolean;
    };

export interface WriterContext {
  readonly now: number;
  /** The clock answered `dead` for the item's present fence. */
  readonly seenDead: boolean;
  /** How the session's latest attempt on the item or an ancestor ended; null if it is open or there is none. */
  readonly latestEnd: EndReason | null;
  readonly identity: Identity;
}

export function judgeWriter(
  item: ItemState,
  writer: Writer,
  door: "holder" | "open",
  context: WriterContext,
): WriterVerdict {
  const { claim } = item;
  const holds = claim !== null && writer.agent !== null && holdsBy(item, writer, context.identity);
  if (
    writer.fence !== null &&
    !(claim !== null && writer.fence === item.fence && claim.agent === writer.agent)
  ) {
    return { kind: "claim_lost" };
  }
  if (holds) return { kind: "ok" };
  if (context.latestEnd === "expired" || context.latestEnd === "revoked") return { kind: "claim_lost" };
  if (door === "open" || claim === null) return { kind: "ok" };
  if (isLapsed(claim, context.now, context.seenDead)) return { kind: "free_first" };
  return {
    kind: "not_holder",
    msLeft: msUntilLapsed(claim, context.now),
    expired: claim.expiresAt <= context.now,
    sameAgent: claim.agent === writer.agent,
  };
}

function holdsBy(item: ItemState, writer: Writer, identity: Identity): boolean {
  const { claim } = item;
  if (claim === null || writer.agent === null) return false;
  if (writer.fence === item.fence && claim.agent === writer.agent) return true;
  return writer.session === null
    ? identity === "actor" && claim.agent === writer.agent
    : isHolder(claim, { agent: writer.agent, session: writer.session }, identity);
}
