/** Agents that were seen, with what they hold. One that holds something, or is drained, is listed even if it was never recorded. */
import { CompiledQuery } from "kysely";
import { type Handle, statement } from "../statement.ts";
import { inScope, Parameters } from "./readiness-sql.ts";

export interface AgentRow {
  agent: string;
  kind: string | null;
  parent_agent: string | null;
  capabilities: string[];
  /** The session it was last seen in. */
  session: string | null;
  sessions: number;
  first_seen_at: Date | null;
  last_seen_at: Date;
  claims: number;
  drained_at: Date | null;
  drain_reason: string | null;
}

export interface AgentListQuery {
  readonly holding?: boolean | undefined;
  readonly drained?: boolean | undefined;
  /** What the caller sees; null: everything. */
  readonly scope: readonly string[] | null;
  readonly seenAfter?: Date | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Of somebody who sees some subtrees: the agents that work, or worked, there, and what they hold there. */
function agentsSeen(scope: readonly string[] | null, parameters: Parameters): string {
  if (scope === null) return AGENTS("", "");
  const seen = inScope("s.item_id", "s.ancestors", scope, parameters);
  return AGENTS(
    ` where exists (select 1 from attempts t join item_state s on s.item_id = t.item_id
       where t.agent = agents.agent and ${seen})`,
    ` and ${seen}`,
  );
}

const AGENTS = (known: string, holding: string): string => `with seen as (
    select agent, count(*)::int as sessions, min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at
    from agents${known} group by agent
  ), held as (
    select agent, count(*)::int as claims, max(claimed_at) as claimed_at
    from item_state s where agent is not null${holding} group by agent
  ), listed as (
    select coalesce(v.agent, h.agent, d.agent) as agent, coalesce(v.sessions, 0) as sessions, v.first_seen_at,
      coalesce(greatest(v.last_seen_at, h.claimed_at), d.drained_at) as last_seen_at, coalesce(h.claims, 0) as claims,
      d.drained_at, d.reason as drain_reason
    from seen v full join held h on h.agent = v.agent ${known === "" ? "full" : "left"} join agent_drains d on d.agent = coalesce(v.agent, h.agent)
  )`;

/** A page, those seen last at its head, and how many there are in all. */
export async function listSeen(
  handle: Handle,
  query: AgentListQuery,
): Promise<{ rows: AgentRow[]; total: number }> {
  const where = (parameters: Parameters): string => {
    const conditions = ["true"];
    if (query.holding !== undefined) conditions.push(`l.claims ${query.holding ? ">" : "="} 0`);
    if (query.drained !== undefined) {
      conditions.push(`l.drained_at is ${query.drained ? "not " : ""}null`);
    }
    if (query.seenAfter !== undefined) {
      conditions.push(`l.last_seen_at > ${parameters.add(query.seenAfter, "::timestamptz")}`);
    }
    return conditions.join(" and ");
  };
  const counting = new Parameters();
  const counted = await handle.executeQuery<{ total: number }>(
    CompiledQuery.raw(
      `${agentsSeen(query.scope, counting)} select count(*)::int as total from listed l where ${where(counting)}`,
      counting.values,
    ),
  );
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<AgentRow>(
    CompiledQuery.raw(
      `${agentsSeen(query.scope, parameters)}, page as (
         select l.* from listed l where ${where(parameters)} order by l.last_seen_at desc, l.agent
         limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}
       )
       select p.*, last.kind, last.parent_agent, coalesce(last.capabilities, '{}') as capabilities, last.session
       from page p left join lateral (
         select a.kind, a.parent_agent, a.capabilities, a.session from agents a
         where a.agent = p.agent order by a.last_seen_at desc, a.session limit 1
       ) last on true
       order by p.last_seen_at desc, p.agent`,
      parameters.values,
    ),
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

export interface HoldRow {
  agent: string;
  item_id: string;
  title: string;
  session: string;
  expires_at: Date;
}

const holds = statement<HoldRow>(
  "agent_read_holds",
  `select t.agent, h.item_id, i.title, h.session, h.expires_at
   from unnest($1::text[]) as t(agent) cross join lateral (
     select s.item_id, s.session, s.expires_at from item_state s
     where s.agent is not null and s.agent = t.agent
       and ($3::uuid[] is null or s.item_id = any($3::uuid[]) or s.ancestors && $3::uuid[])
     order by s.claimed_at, s.item_id limit $2
   ) h join items i on i.id = h.item_id`,
);

/** What each of the agents holds, at most so much for each. */
export async function readHolds(
  handle: Handle,
  agents: readonly string[],
  perAgent: number,
  scope: readonly string[] | null,
): Promise<Map<string, HoldRow[]>> {
  if (agents.length === 0) return new Map();
  return Map.groupBy(await holds(handle, [agents, perAgent, scope]), (row) => row.agent);
}
