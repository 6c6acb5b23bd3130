/** Reads of tenures that writers and answers ask for. */
import type { EndReason } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";

const latestEnds = statement<{ n: number; end_reason: EndReason | null }>(
  "attempts_latest_ends",
  // Item by item along the chain: a session may have a long past, an item rarely has. The materialised
  // step keeps the planner from walking that past newest first.
  `with chain as materialized (
     select c.n, c.agent, c.session, a.end_reason, a.claimed_at, a.fence
     from jsonb_to_recordset($1::jsonb) as c(n int, item_id uuid, agent text, session text)
     join item_state s on s.item_id = c.item_id
     cross join unnest(s.ancestors || s.item_id) as x(item_id)
     join attempts a on a.item_id = x.item_id and a.agent = c.agent and a.session = c.session
   )
   select distinct on (n) n, end_reason from chain order by n, claimed_at desc, fence desc`,
);

export interface SessionOnItem {
  readonly itemId: string;
  readonly agent: string | null;
  readonly session: string | null;
}

/**
 * For each: how the session's latest attempt on the item or on an ancestor ended; null
 * if it is still open or there never was one. Matched by position.
 */
export async function findLatestEnds(
  handle: Handle,
  sessions: readonly SessionOnItem[],
): Promise<(EndReason | null)[]> {
  const asked = sessions.flatMap((one, n) =>
    one.agent === null || one.session === null
      ? []
      : [{ n, item_id: one.itemId, agent: one.agent, session: one.session }],
  );
  const answers = Array.from<EndReason | null>({ length: sessions.length }).fill(null);
  if (asked.length === 0) return answers;
  for (const row of await latestEnds(handle, [JSON.stringify(asked)])) answers[row.n] = row.end_reason;
  return answers;
}
