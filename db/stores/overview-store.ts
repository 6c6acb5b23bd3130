/** Items as an overview shows them, and how many there are below each. */
import type { Priority, Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";

export interface OverviewRow {
  readonly id: string;
  readonly parent_id: string | null;
  readonly title: string;
  readonly role: Role;
  readonly status_label: string | null;
  readonly priority: Priority;
  readonly complexity: number | null;
  readonly depth: number;
  readonly type: string | null;
  readonly tags: string[];
  readonly traits: string[];
}

const COLUMNS = `s.item_id as id, s.parent_id, i.title, s.role, s.status_label, s.priority, s.complexity, i.depth,
  s.type, s.tags, i.traits`;

type Above = "root" | "top" | "parent";

/** To whoever sees some subtrees, their tops are the roots. */
const PLACES: Readonly<Record<Above, string>> = {
  root: "s.parent_id is null and $1::uuid is null",
  top: "s.item_id = any($1::uuid[]) and not s.ancestors && $1::uuid[]",
  parent: "s.parent_id = $1",
};

/** Below nothing in particular are the roots. `$2` leaves out what is closed with all that is below it. */
function shown(parent: Above): string {
  const place = PLACES[parent];
  const open = parent === "parent" ? "$1 = any(d.ancestors)" : "true";
  // What is open is looked through once, not once for each closed item.
  return `${place} and (not $2 or s.role <> 'terminal' or s.open_children > 0 or s.item_id in (
    select unnest(d.ancestors) from item_state d where d.role <> 'terminal' and ${open}))`;
}

function pages(parent: Above) {
  const order = "s.created_at desc, s.item_id desc";
  return {
    page: statement<OverviewRow>(
      `overview_${parent}_page`,
      `select ${COLUMNS} from (
         select s.item_id from item_state s where ${shown(parent)} order by ${order} limit $3 offset $4
       ) p join item_state s on s.item_id = p.item_id join items i on i.id = p.item_id order by ${order}`,
    ),
    count: statement<{ total: number }>(
      `overview_${parent}_count`,
      `select count(*)::int as total from item_state s where ${shown(parent)}`,
    ),
  };
}

const ofRoots = pages("root");
const ofTops = pages("top");
const ofParent = pages("parent");

export interface OverviewQuery {
  /** Whose children; null for the roots. */
  readonly parentId: string | null;
  /** What the caller sees; null: everything. */
  readonly scope: readonly string[] | null;
  readonly excludeTerminal: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** A page, newest first, and how many there are in all: two statements. */
export async function listOverview(
  handle: Handle,
  query: OverviewQuery,
): Promise<{ rows: OverviewRow[]; total: number }> {
  const { parentId, scope, excludeTerminal, limit, offset } = query;
  const { page, count } = parentId !== null ? ofParent : scope === null ? ofRoots : ofTops;
  const place = parentId ?? scope;
  const counted = await count(handle, [place, excludeTerminal]);
  const rows = await page(handle, [place, excludeTerminal, limit, offset]);
  return { rows, total: counted[0]?.total ?? 0 };
}

const children = statement<OverviewRow>(
  "overview_children",
  `select c.* from unnest($1::uuid[]) as p(id) cross join lateral (
     select ${COLUMNS} from items i join item_state s on s.item_id = i.id
     where i.parent_id = p.id order by s.created_at desc, s.item_id desc limit $2
   ) c`,
);

/** The newest children of each, at most so many, by parent. */
export async function listChildren(
  handle: Handle,
  parents: readonly string[],
  perParent: number,
): Promise<Map<string, OverviewRow[]>> {
  if (parents.length === 0) return new Map();
  return Map.groupBy(await children(handle, [parents, perParent]), (row) => row.parent_id ?? "");
}

export interface CountRow {
  readonly id: string;
  readonly role: Role;
  readonly count: number;
  readonly active: number;
  readonly expired: number;
}

function counts(name: string, below: string) {
  return statement<CountRow>(
    name,
    `select p.id, d.role, count(*)::int as count,
       (count(*) filter (where d.agent is not null and d.expires_at > muster_now()))::int as active,
       (count(*) filter (where d.agent is not null and d.expires_at <= muster_now()))::int as expired
     from unnest($1::uuid[]) as p(id) join items i on ${below} join item_state d on d.item_id = i.id
     group by p.id, d.role`,
  );
}

const childCounts = counts("overview_child_counts", "i.parent_id = p.id");
const subtreeCounts = counts("overview_subtree_counts", "i.ancestors @> array[p.id]");

/** How many items there are right below each, or anywhere below, by role, and how many of them are claimed. */
export async function countBelow(
  handle: Handle,
  ids: readonly string[],
  reach: "children" | "subtree",
): Promise<Map<string, CountRow[]>> {
  if (ids.length === 0) return new Map();
  const rows = await (reach === "children" ? childCounts : subtreeCounts)(handle, [ids]);
  return Map.groupBy(rows, (row) => row.id);
}
