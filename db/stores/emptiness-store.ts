/** Why a selector found nothing: counted over the rows that match its filter, and capped. */
import type { Role } from "../../services/core/roles.ts";
import { contentConditions } from "./next-sql.ts";
import { matchesFilter, Parameters, type SelectorAsker, type SelectorFilter } from "./readiness-sql.ts";
import { type Handle, runGenerated } from "../statement.ts";

/** Rows that are looked at: enough to say why, whatever the size of the tree. */
export const COUNT_CAP = 1_000;

export interface EmptinessQuery {
  readonly filter: SelectorFilter;
  readonly roles: readonly Role[];
  readonly containers: boolean;
  readonly startable: boolean;
  readonly asker: SelectorAsker;
}

export interface Emptiness {
  readonly matching: number;
  readonly claimed: number;
  readonly ancestorClaimed: number;
  readonly dependencyBlocked: number;
  readonly waiting: number;
  readonly capabilities: number;
  readonly assignee: number;
  /** Reviews of what the asker wrote. */
  readonly independence: number;
  readonly containers: number;
  /** What they have to have in work is taken. */
  readonly resources: number;
  /** In a root whose environment is broken. */
  readonly paused: number;
  /** How many such roots there are among all that match, whatever else stands in the way. */
  readonly pausedRoots: number;
  /** When the first of them is probed; null while a probe is under way. */
  readonly probeAt: number | null;
  /** When something that is in the way now goes by itself: the first wait or claim to end. Milliseconds of the database's clock. */
  readonly nextAt: number | null;
  readonly now: number;
}

type Apart = "nextAt" | "now" | "probeAt" | "pausedRoots" | "ancestorClaimed" | "dependencyBlocked";
type Row = {
  [K in Exclude<keyof Emptiness, Apart>]: number;
} & {
  ancestor_claimed: number;
  dependency_blocked: number;
  paused_roots: number;
  probe_at: Date | null;
  next_at: Date | null;
  now: Date;
};

/** When the first of the leases that are in the way will have ended, if nobody is heard. */
const SOONEST_LEASE = `select min(case when h.agent is null then l.expires_at
      when h.expires_at > muster_now() then h.expires_at
      else h.expires_at + h.ttl_ms / 2.0 * interval '1 millisecond' end)
    from matching m cross join lateral jsonb_to_recordset(m.resources) as w(key text)
    join resource_leases l on l.key = w.key join item_state h on h.item_id = l.item_id
    where m.reason = 'resources'`;

/** Each row is counted once, under the first reason that it has. */
export async function findEmptiness(handle: Handle, query: EmptinessQuery): Promise<Emptiness> {
  const parameters = new Parameters();
  const roles = parameters.add(query.roles, "::text[]");
  const agent = parameters.add(query.asker.agent, "::text");
  const capabilities = parameters.add(query.asker.capabilities, "::text[]");
  const filter = matchesFilter(query.filter, parameters);
  const content = contentConditions(query.filter, parameters);
  const narrowed =
    content.length === 0 ? "" : ` and s.item_id in (select i.id from items i where ${content.join(" and ")})`;
  const container = query.containers ? "false" : "s.open_children > 0";
  const text = `
    with matching as materialized (
      select s.agent, s.expires_at, s.available_at, s.ancestors, s.resources, s.root_id,
        case
          when s.agent is not null then 'claimed'
          when s.blockers > 0 or s.ancestor_blockers > 0 then 'dependency_blocked'
          when ${container} then 'containers'
          when s.root_id = any((select muster_paused_roots())::uuid[]) then 'paused'
          when s.available_at > muster_now() then 'waiting'
          when not s.needs <@ ${capabilities} then 'capabilities'
          when s.assignee is distinct from ${agent} and s.assignee is not null then 'assignee'
          when s.role = 'review' and ${agent} = any(s.review_excludes) then 'independence'
          when exists (select 1 from item_state a where a.item_id = any(s.ancestors)
            and a.agent is distinct from ${agent} and a.agent is not null) then 'ancestor_claimed'
          when s.resources is not null${query.startable ? "" : " and s.role = 'work'"}
            and not muster_resources_free(s.item_id, s.resources) then 'resources'
        end as reason
      from item_state s
      where s.role = any(${roles}) and ${filter}${narrowed}
      limit ${COUNT_CAP}
    ), paused_roots as materialized (
      select b.root_id, case when b.probe_item is null then b.probe_at end as probe_at
      from unnest((select muster_paused_roots())) as p(root_id) join root_breakers b on b.root_id = p.root_id
      where exists (select 1 from matching m where m.root_id = p.root_id)
    )
    select count(*)::int as matching,
      count(*) filter (where reason = 'claimed')::int as claimed,
      count(*) filter (where reason = 'ancestor_claimed')::int as ancestor_claimed,
      count(*) filter (where reason = 'dependency_blocked')::int as dependency_blocked,
      count(*) filter (where reason = 'waiting')::int as waiting,
      count(*) filter (where reason = 'capabilities')::int as capabilities,
      count(*) filter (where reason = 'assignee')::int as assignee,
      count(*) filter (where reason = 'independence')::int as independence,
      count(*) filter (where reason = 'containers')::int as containers,
      count(*) filter (where reason = 'resources')::int as resources,
      count(*) filter (where reason = 'paused')::int as paused,
      (select count(*) from paused_roots)::int as paused_roots,
      (select min(probe_at) from paused_roots) as probe_at,
      least(
        (select min(probe_at) from paused_roots),
        min(available_at) filter (where reason = 'waiting'),
        -- Held work comes back to the queue when its holder is gone, so it counts whatever role is asked for.
        (select case when s.expires_at > muster_now() then s.expires_at
             else s.expires_at + s.ttl_ms / 2.0 * interval '1 millisecond' end
           from item_state s
           where s.agent is not null and (s.role = 'work' or s.role = any(${roles})) and ${filter}
           order by s.expires_at limit 1),
        (select min(a.expires_at) from item_state a where a.agent is not null
           and exists (select 1 from matching m where m.reason = 'ancestor_claimed' and a.item_id = any(m.ancestors))),
        (${SOONEST_LEASE})
      ) as next_at,
      muster_now() as now
    from matching`;
  const [row] = await runGenerated<Row>(handle, text, parameters.values);
  if (!row) throw new Error("counting answered nothing");
  return toEmptiness(row);
}

function toEmptiness(row: Row): Emptiness {
  return {
    matching: row.matching,
    claimed: row.claimed,
    ancestorClaimed: row.ancestor_claimed,
    dependencyBlocked: row.dependency_blocked,
    waiting: row.waiting,
    capabilities: row.capabilities,
    assignee: row.assignee,
    independence: row.independence,
    containers: row.containers,
    resources: row.resources,
    paused: row.paused,
    pausedRoots: row.paused_roots,
    probeAt: row.probe_at?.getTime() ?? null,
    nextAt: row.next_at?.getTime() ?? null,
    now: row.now.getTime(),
  };
}
