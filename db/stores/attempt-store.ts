/** Reads of tenures that writers and answers ask for. */
import type { EndReason } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";

const latestEnds = statement<{ n: number; end_reason: EndReason | null }>(
  "attempts_latest_ends",
  `select c.n, a.end_reason
   from jsonb_to_recordset($1::jsonb) as c(n int, item_id uuid, agent text, session text)
   join item_state s on s.item_id = c.item_id
   cross join lateral (
     select a.end_reason from attempts a
     where a.item_id = any(s.ancestors || s.item_id) and a.agent = c.agent and a.session = c.session
     order by a.claimed_at desc, a.fence desc limit 1
   ) a`,
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
