/** What is going on: items at work, stuck items, recent transitions, claims. */
import type { Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import { STUCK } from "./blocked-condition.ts";

export interface BoardRow {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly ancestors: string[];
  readonly title: string;
  readonly role: Role;
  readonly previous_role: "queue" | "work" | "review" | null;
  readonly status_label: string | null;
  readonly priority: "high" | "medium" | "low";
  readonly complexity: number | null;
  readonly type: string | null;
  readonly tags: string[];
  readonly traits: string[];
  readonly depth: number;
  readonly open_children: number;
  readonly held: boolean;
  readonly lapsed: boolean;
  readonly dead: boolean;
  readonly role_changed_at: Date;
}

const BOARD = `s.item_id as id, s.root_id, s.parent_id, s.ancestors, i.title, s.role, s.previous_role, s.status_label,
  s.priority, s.complexity, s.type, s.tags, s.traits, i.depth, s.open_children, s.agent is not null as held,
  coalesce(s.expires_at <= muster_now(), false) as lapsed, s.dead, s.role_changed_at`;

/** The items themselves and everything below them; everything there is without any. */
const WITHIN = `($1::uuid[] is null or s.item_id = any($1::uuid[]) or s.ancestors && $1::uuid[])`;

const active = statement<BoardRow>(
  "context_active",
  `select ${BOARD} from unnest(array['work', 'review']) with ordinality as r(role, n)
   cross join lateral (
     select * from item_state s where s.role = r.role and ${WITHIN} order by s.rank, s.created_at, s.item_id limit $2
   ) s join items i on i.id = s.item_id
   order by r.n, s.rank, s.created_at, s.item_id`,
);

/** Items in work and in review, so many of each. */
export async function findActive(
  handle: Handle,
  within: readonly string[] | null,
  perRole: number,
): Promise<BoardRow[]> {
  return await active(handle, [within, perRole]);
}

const stuck = statement<BoardRow>(
  "context_stuck",
  `select ${BOARD} from item_state s join items i on i.id = s.item_id
   where ${STUCK} and ${WITHIN} order by s.rank, s.created_at, s.item_id limit $2`,
);

/** On hold, dead, or waiting for a blocker. */
export async function findStuck(
  handle: Handle,
  within: readonly string[] | null,
  limit: number,
): Promise<BoardRow[]> {
  return await stuck(handle, [within, limit]);
}

const claims = statement<{ active: number; expired: number }>(
  "context_claims",
  `select (count(*) filter (where s.expires_at > muster_now()))::int as active,
     (count(*) filter (where s.expires_at <= muster_now()))::int as expired
   from item_state s where s.agent is not null and ${WITHIN}`,
);

export async function countClaims(
  handle: Handle,
  within: readonly string[] | null,
): Promise<{ active: number; expired: number }> {
  const [row] = await claims(handle, [within]);
  return row ?? { active: 0, expired: 0 };
}

export interface RecentRow {
  readonly item_id: string;
  readonly title: string;
  readonly from_role: Role;
  readonly to_role: Role;
  readonly trigger: string;
  readonly at: Date;
  readonly agent: string | null;
  readonly summary: string | null;
}

const recent = statement<RecentRow>(
  "context_recent",
  // Of items that still exist: the place of one that does not is not known any more.
  `select t.item_id, i.title, t.from_role, t.to_role, t.trigger, t.at, t.agent, t.summary
   from transitions t join item_state s on s.item_id = t.item_id join items i on i.id = t.item_id
   where t.at >= $3 and ${WITHIN} order by t.at desc, t.id desc limit $2`,
);

/** Since the instant, the latest first. */
export async function findRecent(
  handle: Handle,
  within: readonly string[] | null,
  since: Date,
  limit: number,
): Promise<RecentRow[]> {
  return await recent(handle, [within, limit, since]);
}

export interface LeaseOnKeyRow {
  readonly key: string;
  readonly item_id: string;
  readonly acquired_by: string | null;
  readonly expires_at: Date;
}

const leasesOnKeys = statement<LeaseOnKeyRow>(
  "context_leases",
  // A held item's leases live as long as its claim, another's as long as they say themselves.
  `select l.key, l.item_id, l.acquired_by, case when s.agent is null then l.expires_at else s.expires_at end as expires_at
   from resource_leases l join item_state s on s.item_id = l.item_id
   where l.key = any($1::text[]) and (s.agent is not null or l.expires_at > muster_now())
   order by l.key, l.acquired_at, l.item_id limit 200`,
);

/** Who has the resources, as of now. */
export async function findLeasesOn(handle: Handle, keys: readonly string[]): Promise<LeaseOnKeyRow[]> {
  return keys.length === 0 ? [] : await leasesOnKeys(handle, [keys]);
}
