/** Reads of items: one in full, or a page of many. */
import { CompiledQuery, type Selectable } from "kysely";
import type { Role } from "../../services/core/roles.ts";
import type { ItemStateTable, ItemsTable } from "../schema.ts";
import { type Handle, statement } from "../statement.ts";
import { readinessCondition } from "./blocked-condition.ts";
import { contentConditions } from "./next-sql.ts";
import { matchesFilter, Parameters, type SelectorFilter } from "./readiness-sql.ts";
import { STATE_COLUMNS, type StateRow } from "./state-row.ts";

type Content = Selectable<ItemsTable>;

export type ItemRow = StateRow &
  Pick<
    Content,
    | "title"
    | "summary"
    | "description"
    | "tags"
    | "traits"
    | "properties"
    | "metadata"
    | "requires_verification"
    | "due_at"
    | "version"
    | "depth"
  > &
  Pick<Selectable<ItemStateTable>, "modified_at" | "role_changed_at"> & { now: Date };

/** Of `s` and `i`, the state and the content of one item. */
export const FULL_ITEM_COLUMNS = `${STATE_COLUMNS}, s.modified_at, s.role_changed_at, i.title, i.summary, i.description,
  i.properties, i.metadata, i.requires_verification, i.due_at, i.version, i.depth, muster_now() as now`;

const fullItem = statement<ItemRow>(
  "item_read_full",
  `select ${FULL_ITEM_COLUMNS} from item_state s join items i on i.id = s.item_id where s.item_id = $1`,
);

export async function readItem(handle: Handle, id: string): Promise<ItemRow | null> {
  const [row] = await fullItem(handle, [id]);
  return row ?? null;
}

export interface HeldAncestorRow {
  item_id: string;
  agent: string;
  session: string;
  expires_at: Date;
}

const heldAncestors = statement<HeldAncestorRow>(
  "item_read_held_ancestors",
  `select item_id, agent, session, expires_at from item_state where item_id = any($1::uuid[]) and agent is not null`,
);

/** Claims on the ancestors, nearest or not. */
export async function readHeldAncestors(
  handle: Handle,
  ancestors: readonly string[],
): Promise<HeldAncestorRow[]> {
  return ancestors.length === 0 ? [] : await heldAncestors(handle, [ancestors]);
}

export interface ItemListQuery {
  readonly filter: SelectorFilter;
  readonly roles?: readonly Role[] | undefined;
  readonly depth?: number | undefined;
  readonly assignee?: string | undefined;
  readonly readiness?: "ready" | "blocked" | "claimed" | "waiting" | "dead" | "all" | undefined;
  readonly claimStatus?: "claimed" | "unclaimed" | "expired" | undefined;
  /** Due by then. */
  readonly dueBefore?: Date | undefined;
  readonly sortBy: "title" | "priority" | "complexity" | "createdAt" | "modifiedAt";
  readonly sortOrder: "asc" | "desc";
  readonly limit: number;
  readonly offset: number;
}

export interface ListedRow {
  item_id: string;
  parent_id: string | null;
  ancestors: string[];
  title: string;
  role: Role;
  status_label: string | null;
  priority: Content["priority"];
  complexity: number | null;
  depth: number;
  type: string | null;
  tags: string[];
  held: boolean;
  lapsed: boolean;
  dead: boolean;
  due_at: Date | null;
  created_at: Date;
  modified_at: Date;
  role_changed_at: Date;
}

const CLAIM_STATUS = {
  claimed: "s.agent is not null and s.expires_at > muster_now()",
  expired: "s.agent is not null and s.expires_at <= muster_now()",
  unclaimed: "s.agent is null",
} as const;

/** Highest first is what descending means for a priority, and what rank counts upwards. */
export const SORT_KEYS = {
  title: { asc: "i.title asc", desc: "i.title desc" },
  priority: { asc: "s.rank desc", desc: "s.rank asc" },
  complexity: { asc: "s.complexity asc nulls last", desc: "s.complexity desc nulls last" },
  createdAt: { asc: "s.created_at asc", desc: "s.created_at desc" },
  modifiedAt: { asc: "s.modified_at asc", desc: "s.modified_at desc" },
} as const;

/** A page and how many there are in all: two statements. Ties are broken by age and id, so that pages never overlap. */
export async function listItems(
  handle: Handle,
  query: ItemListQuery,
): Promise<{ rows: ListedRow[]; total: number }> {
  const counting = new Parameters();
  const total = await run<{ total: number }>(
    handle,
    `select count(*)::int as total from item_state s where ${conditions(query, counting)}`,
    counting,
  );
  const parameters = new Parameters();
  const direction = query.sortBy === "createdAt" ? query.sortOrder : "asc";
  const order = `${SORT_KEYS[query.sortBy][query.sortOrder]}, s.created_at ${direction}, s.item_id ${direction}`;
  const page = `select s.item_id from item_state s ${query.sortBy === "title" ? "join items i on i.id = s.item_id" : ""}
    where ${conditions(query, parameters)} order by ${order}
    limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`;
  const rows = await run<ListedRow>(
    handle,
    `select s.item_id, s.parent_id, s.ancestors, i.title, s.role, s.status_label, s.priority, s.complexity, i.depth, s.type,
       s.tags, s.agent is not null as held, coalesce(s.expires_at <= muster_now(), false) as lapsed, s.dead,
       i.due_at, s.created_at, s.modified_at, s.role_changed_at
     from (${page}) p join item_state s on s.item_id = p.item_id join items i on i.id = p.item_id
     order by ${order}`,
    parameters,
  );
  return { rows, total: total[0]?.total ?? 0 };
}

/** Which items are meant, of a list or of a search. */
export interface ItemConditions extends Pick<
  ItemListQuery,
  "filter" | "roles" | "depth" | "assignee" | "readiness" | "claimStatus" | "dueBefore"
> {
  /** This item and no other. */
  readonly itemId?: string | undefined;
}

function conditions(query: ItemListQuery, parameters: Parameters): string {
  return [...narrowed(query.filter, parameters), stateConditions(query, parameters)].join(" and ");
}

/** Condition on `s`, the state of an item. */
export function stateConditions(query: ItemConditions, parameters: Parameters): string {
  const all: string[] = [matchesFilter(query.filter, parameters)];
  if (query.itemId !== undefined) all.push(`s.item_id = ${parameters.add(query.itemId, "::uuid")}`);
  if (query.roles !== undefined) all.push(`s.role = any(${parameters.add(query.roles, "::text[]")})`);
  if (query.depth !== undefined)
    all.push(`cardinality(s.ancestors) = ${parameters.add(query.depth, "::int")}`);
  if (query.assignee !== undefined) all.push(`s.assignee = ${parameters.add(query.assignee, "::text")}`);
  if (query.dueBefore !== undefined)
    all.push(
      `s.item_id in (select d.id from items d where d.due_at < ${parameters.add(query.dueBefore, "::timestamptz")})`,
    );
  if (query.claimStatus !== undefined) all.push(CLAIM_STATUS[query.claimStatus]);
  if (query.readiness !== undefined && query.readiness !== "all") {
    const scope = { roles: query.roles ?? (["queue"] as const), containers: query.filter.type !== undefined };
    all.push(readinessCondition(query.readiness, scope, parameters));
  }
  return all.join(" and ");
}

/** Lets the indexes of the content find the few rows that a filter means. */
export function narrowed(filter: SelectorFilter, parameters: Parameters): string[] {
  const content = contentConditions(filter, parameters);
  return content.length === 0
    ? []
    : [`s.item_id in (select i.id from items i where ${content.join(" and ")})`];
}

async function run<Row>(handle: Handle, text: string, parameters: Parameters): Promise<Row[]> {
  return (await handle.executeQuery<Row>(CompiledQuery.raw(text, parameters.values))).rows;
}

export interface HeadRow {
  item_id: string;
  parent_id: string | null;
  ancestors: string[];
  title: string;
  summary: string;
  role: Role;
  priority: Content["priority"];
  complexity: number | null;
  tags: string[];
  rank: number;
  created_at: Date;
  held: boolean;
  agent: string | null;
  session: string | null;
  assignee: string | null;
  attempts: number;
  dead: boolean;
  overdue: boolean;
  /** Open items that an edge of this one keeps waiting, or kept. */
  holds_up: number;
}

const heads = statement<HeadRow>(
  "item_read_heads",
  `select s.item_id, s.parent_id, s.ancestors, i.title, i.summary, s.role, s.priority, s.complexity, s.tags,
     s.rank, s.created_at, s.agent is not null as held, s.agent, s.session, s.assignee, s.attempts, s.dead,
     coalesce(i.due_at <= muster_now(), false) as overdue,
     (select count(*) from dependencies d join item_state w on w.item_id = d.to_item
      where d.from_item = s.item_id and d.type = 'BLOCKS' and w.role <> 'terminal')::int as holds_up
   from item_state s join items i on i.id = s.item_id where s.item_id = any($1::uuid[])`,
);

/** By id; what has gone meanwhile is absent. */
export async function readHeads(handle: Handle, ids: readonly string[]): Promise<Map<string, HeadRow>> {
  if (ids.length === 0) return new Map();
  return new Map((await heads(handle, [ids])).map((row) => [row.item_id, row]));
}
