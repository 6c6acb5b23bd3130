/** Tenures as operators look at them: of one item, and counted by agent. */
import type { EndReason } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";

export interface AttemptRow {
  fence: number;
  agent: string;
  session: string;
  parent_agent: string | null;
  claimed_at: Date;
  ended_at: Date | null;
  end_reason: EndReason | null;
  detail: string | null;
  usage: Record<string, unknown> | null;
  total: number;
}

const ofItem = statement<AttemptRow>(
  "attempts_of_item",
  `select a.fence, a.agent, a.session, a.parent_agent, a.claimed_at, a.ended_at, a.end_reason, a.detail, a.usage,
     (count(*) over ())::int as total
   from attempts a where a.item_id = $1 order by a.fence desc limit $2 offset $3`,
);

/** A page, the newest at its head. Each row carries how many there are in all; a page behind the last has none. */
export async function listAttemptsOf(
  handle: Handle,
  itemId: string,
  limit: number,
  offset: number,
): Promise<AttemptRow[]> {
  return await ofItem(handle, [itemId, limit, offset]);
}

const ofAgents = statement<{ agent: string; ended: EndReason | "open"; count: number }>(
  "attempts_of_agents",
  `select a.agent, coalesce(a.end_reason, 'open') as ended, count(*)::int as count
   from attempts a where a.agent = any($1::text[]) and a.claimed_at > muster_now() - interval '1 day'
     and ($2::uuid[] is null or exists (select 1 from item_state s where s.item_id = a.item_id
       and (s.item_id = any($2::uuid[]) or s.ancestors && $2::uuid[])))
   group by 1, 2`,
);

export type AttemptCounts = Partial<Record<EndReason | "open", number>>;

/** Attempts that each agent began within the last day, by how they ended. */
export async function countAttempts(
  handle: Handle,
  agents: readonly string[],
  scope: readonly string[] | null,
): Promise<Map<string, AttemptCounts>> {
  const counts = new Map<string, AttemptCounts>();
  if (agents.length === 0) return counts;
  for (const { agent, ended, count } of await ofAgents(handle, [agents, scope])) {
    counts.set(agent, { ...counts.get(agent), [ended]: count });
  }
  return counts;
}
