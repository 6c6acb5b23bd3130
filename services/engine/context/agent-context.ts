/**
 * `get_context` with mode agent: what an agent holds, what it dispatched, and what of that ended
 * since it last asked. An orchestrator waits here for its subagents: ticket, look, sleep until
 * some tenure ends anywhere. A wake-up only says that it is worth looking.
 */
import {
  type ClaimOfAgentRow,
  type EndRow,
  findDispatched,
  findEnds,
  findHeld,
} from "../../../db/stores/context-agent-store.ts";
import type { AgentContext, DispatchedClaim, EndedAttempt, HeldClaim } from "../../contract/contexts.ts";
import type { AskAgent } from "../../contract/operations/get-context.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { Waiters } from "../claims/waiters.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import type { Looker } from "../access.ts";
import { fitPage } from "../queries/fit-page.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { TENURE_ENDED } from "../writing/transact.ts";
import { readCursor, writeCursor } from "./ends-cursor.ts";

/** Claims shown of each kind; the totals beside them are exact. */
const CLAIMS_SHOWN = 100;
const CLAIMS_SIZE_MAX_BYTES = 15_000;
const ENDS_SIZE_MAX_BYTES = 30_000;
const TEXT_LENGTH_MAX = 500;
/** A wait looks no more often than this, however many tenures end. */
const LOOK_EVERY_MS = 200;

export async function agentContext(
  deps: EngineDeps,
  waiters: Waiters,
  input: AskAgent,
  caller: Caller,
): Promise<AgentContext> {
  const position = input.cursor === null ? null : readCursor(input.cursor);
  const found = await waiters.until(
    input.waitSeconds * 1000,
    caller.signal,
    async () => {
      const context = await look(deps, input, position, caller);
      return { context, empty: context.ended.length === 0 && context.cursorReset !== true, nextAt: null };
    },
    { topic: TENURE_ENDED, restMs: LOOK_EVERY_MS },
  );
  return found.context;
}

async function look(
  deps: EngineDeps,
  { agent, limit }: AskAgent,
  position: ReturnType<typeof readCursor> | null,
  { access: { scope } }: Looker,
): Promise<AgentContext> {
  return await inSnapshot(deps, async (handle) => {
    // Its snapshot is the position that the answer names, and that of everything else in it.
    let ends = await findEnds(handle, agent, position, limit, scope);
    const ended = fitPage(ends.rows.map(endedAttempt), ENDS_SIZE_MAX_BYTES);
    // A page that is too large ends earlier, with a position of its own.
    if (ended.length < ends.rows.length) ends = await findEnds(handle, agent, position, ended.length, scope);
    const held = await findHeld(handle, agent, CLAIMS_SHOWN, scope);
    const dispatched = await findDispatched(handle, agent, CLAIMS_SHOWN, scope);
    return {
      mode: "agent",
      agent,
      held: fitPage(held.map(heldClaim), CLAIMS_SIZE_MAX_BYTES),
      heldTotal: held[0]?.total ?? 0,
      dispatched: fitPage(dispatched.map(dispatchedClaim), CLAIMS_SIZE_MAX_BYTES),
      dispatchedTotal: dispatched[0]?.total ?? 0,
      ended,
      hasMore: ends.hasMore,
      cursor: writeCursor(ends.next),
      ...(ends.reset ? { cursorReset: true } : {}),
    };
  });
}

function heldClaim(row: ClaimOfAgentRow): HeldClaim {
  const msLeft = row.expires_at.getTime() - row.now.getTime();
  return {
    itemId: row.item_id,
    title: row.title,
    role: row.role,
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    fence: row.fence,
    claimedAt: row.claimed_at.toISOString(),
    claimExpiresAt: row.expires_at.toISOString(),
    msLeft: Math.max(0, msLeft),
    ...(msLeft <= 0 ? { lapsed: true } : {}),
  };
}

function dispatchedClaim(row: ClaimOfAgentRow): DispatchedClaim {
  return { ...heldClaim(row), agent: row.agent };
}

function endedAttempt(row: EndRow): EndedAttempt {
  return {
    itemId: row.item_id,
    title: row.title,
    agent: row.agent,
    fence: row.fence,
    endReason: row.end_reason,
    endedAt: row.ended_at.toISOString(),
    role: row.role,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    ...(row.dead ? { dead: true } : {}),
    ...(row.detail === null ? {} : { detail: clipText(row.detail, TEXT_LENGTH_MAX) }),
    ...(row.summary === null ? {} : { summary: clipText(row.summary, TEXT_LENGTH_MAX) }),
  };
}
