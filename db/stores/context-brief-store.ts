/** An item with everything around it that working on it may need: one statement, whatever there is of it. */
import type { Outcome, Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import type { ItemRow } from "./item-read-store.ts";
import { STATE_COLUMNS } from "./state-row.ts";

export interface PlaceRow {
  readonly id: string;
  readonly title: string;
  readonly role: Role;
}

export interface BriefBlockerRow extends PlaceRow {
  readonly outcome: Outcome | null;
  readonly unblock_at: Role | null;
  readonly on_cancelled: "hold" | "release" | null;
}

export interface BriefRow extends ItemRow {
  /** The nearest first. */
  readonly parents: readonly (PlaceRow & { readonly summary: string })[];
  readonly blocked_by: readonly BriefBlockerRow[];
  readonly related: readonly (PlaceRow & { readonly relation: "blocks" | "relates" })[];
  readonly siblings: readonly PlaceRow[];
  /** Those that have fired; the first of them at the head. */
  readonly reminders: readonly {
    readonly id: string;
    readonly note: string | null;
    readonly to_agent: string | null;
    readonly to_capability: string | null;
    readonly fired_at: string;
  }[];
  readonly last_attempt: {
    readonly end_reason: string;
    readonly ended_at: string;
    readonly detail: string | null;
  } | null;
  /** The latest first. */
  readonly activity: readonly {
    readonly at: string;
    readonly from_role: Role;
    readonly to_role: Role;
    readonly trigger: string;
    readonly summary: string | null;
  }[];
}

const list = (rows: string): string => `(select coalesce(jsonb_agg(to_jsonb(x)), '[]') from (${rows}) x)`;

// Each list is bounded by itself: what is beyond is a page of the call that lists it.
const scene = statement<BriefRow>(
  "context_brief",
  `select ${STATE_COLUMNS}, s.modified_at, s.role_changed_at, i.title, i.summary, i.description,
     i.properties, i.metadata, i.requires_verification, i.version, i.depth, muster_now() as now,
     ${list(`select p.id, p.title, left(p.summary, 500) as summary, ps.role
       from items p join item_state ps on ps.item_id = p.id where p.id = any(s.ancestors) order by p.depth desc`)} as parents,
     ${list(`select b.id, b.title, bs.role, bs.outcome, d.unblock_at, d.on_cancelled
       from (select * from dependencies d where d.to_item = s.item_id and d.type = 'BLOCKS'
         order by d.created_at, d.id limit 100) d
       join items b on b.id = d.from_item join item_state bs on bs.item_id = b.id
       order by d.created_at, d.id`)} as blocked_by,
     ${list(`select o.id, o.title, os.role, d.relation
       from (
         (select d.to_item as other, 'blocks' as relation from dependencies d
          where d.from_item = s.item_id and d.type = 'BLOCKS' limit 50)
         union all
         (select d.to_item, 'relates' from dependencies d
          where d.from_item = s.item_id and d.type = 'RELATES_TO' limit 50)
         union all
         (select d.from_item, 'relates' from dependencies d
          where d.to_item = s.item_id and d.type = 'RELATES_TO' limit 50)
       ) d join items o on o.id = d.other join item_state os on os.item_id = o.id`)} as related,
     ${list(`select o.id, o.title, os.role
       from (select o.id, o.title, o.created_at from items o
         where o.parent_id = s.parent_id and o.id <> s.item_id limit 500) o
       join item_state os on os.item_id = o.id
       order by os.role = 'terminal', o.created_at, o.id limit 50`)} as siblings,
     ${list(`select r.id, r.note, r.to_agent, r.to_capability, r.fired_at from reminders r
       where r.item_id = s.item_id and r.fired_at is not null and r.acked_at is null and s.role <> 'terminal'
       order by r.fired_at, r.id limit 50`)} as reminders,
     (select to_jsonb(x) from (select a.end_reason, a.ended_at, left(a.detail, 2000) as detail from attempts a
       where a.item_id = s.item_id and a.ended_at is not null order by a.fence desc limit 1) x) as last_attempt,
     ${list(`select t.at, t.from_role, t.to_role, t.trigger, left(t.summary, 500) as summary
       from transitions t where t.item_id = s.item_id order by t.id desc limit 10`)} as activity
   from item_state s join items i on i.id = s.item_id where s.item_id = $1`,
);

export async function readBriefRow(handle: Handle, itemId: string): Promise<BriefRow | null> {
  const [row] = await scene(handle, [itemId]);
  return row ?? null;
}
