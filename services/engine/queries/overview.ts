/**
 * Overviews: the roots, the children of an anchor with whole subtrees counted, or one item with its children.
 * Each takes a handful of statements, whatever the number of items.
 */
import {
  countBelow,
  type CountRow,
  listChildren,
  listOverview,
  type OverviewRow,
} from "../../../db/stores/overview-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { FullItem, Overview } from "../../contract/operations/query-items.ts";
import type {
  ChildCounts,
  ClaimSummary,
  ItemOverview,
  OverviewChild,
  OverviewItem,
  OverviewPage,
} from "../../contract/overviews.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import { requireItem } from "../resolve-items.ts";
import { fitItem, ITEM_SIZE_MAX_BYTES } from "./fit-item.ts";
import { fitPage, sizeOf } from "./fit-page.ts";
import type { Looker } from "../access.ts";

/** Children shown of each root; the counts beside them are exact. */
const CHILDREN_SHOWN = 20;
/** What is left for the children beside an item in full. */
const CHILDREN_SIZE_MAX_BYTES = 30_000;

const ANCHOR_TITLE_LENGTH = 200;

type Rows = readonly OverviewRow[];
type Counts = ReadonlyMap<string, readonly CountRow[]>;

/** The roots, or the children of the anchor. */
export async function overviewOf(handle: Handle, input: Overview, caller: Looker): Promise<OverviewPage> {
  const { limit, offset, excludeTerminal } = input;
  const anchor = input.anchorId === undefined ? null : await requireItem(handle, input.anchorId, caller);
  const { rows, total } = await listOverview(handle, {
    parentId: anchor,
    scope: caller.access.scope,
    excludeTerminal,
    limit,
    offset,
  });
  const counts = await countBelow(handle, idsOf(rows), anchor === null ? "children" : "subtree");
  const children =
    input.includeChildren && anchor === null
      ? await listChildren(handle, idsOf(rows), CHILDREN_SHOWN)
      : new Map<string, OverviewRow[]>();
  const below = await countBelow(handle, idsOf([...children.values()].flat()), "children");
  const items = fitPage(
    rows.map((row): OverviewItem => ({
      ...overviewChild(row, counts),
      ...(anchor === null ? { claimSummary: claimsOf(counts.get(row.id) ?? []) } : {}),
      ...(input.includeChildren
        ? { children: (children.get(row.id) ?? []).map((child) => overviewChild(child, below)) }
        : {}),
    })),
  );
  return {
    ...(anchor === null ? {} : { anchor: await anchorOf(handle, anchor) }),
    items,
    ...page(items.length, total, input),
  };
}

async function anchorOf(handle: Handle, id: string): Promise<OverviewPage["anchor"]> {
  const title = (await findTitles(handle, [id])).get(id);
  if (title === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  return { id, title: clipText(title, ANCHOR_TITLE_LENGTH) };
}

/** One item, and a page of its children. */
export async function overviewOfItem(handle: Handle, item: FullItem, input: Overview): Promise<ItemOverview> {
  const { limit, offset, excludeTerminal } = input;
  const { rows, total } = await listOverview(handle, {
    parentId: item.id,
    // What lies below what is seen is seen.
    scope: null,
    excludeTerminal,
    limit,
    offset,
  });
  const counts = await countBelow(handle, [item.id, ...idsOf(rows)], "children");
  const children = fitPage(
    rows.map((row) => overviewChild(row, counts)),
    CHILDREN_SIZE_MAX_BYTES,
  );
  return {
    // An item with few children is shown whole where it can be.
    item: fitItem(item, ITEM_SIZE_MAX_BYTES - sizeOf(children)),
    // Of all children, also of those that are left out.
    childCounts: countsOf(counts.get(item.id) ?? []),
    children,
    ...page(children.length, total, input),
  };
}

function page(returned: number, total: number, { limit, offset }: Overview) {
  return { total, truncated: offset + returned < total, returned, limit, offset };
}

function idsOf(rows: Rows): string[] {
  return rows.map((row) => row.id);
}

function overviewChild(row: OverviewRow, counts: Counts): OverviewChild {
  return {
    id: row.id,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    title: row.title,
    role: row.role,
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    priority: row.priority,
    ...(row.complexity === null ? {} : { complexity: row.complexity }),
    depth: row.depth,
    ...(row.type === null ? {} : { type: row.type }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags.join(",") }),
    ...(row.traits.length === 0 ? {} : { traits: row.traits }),
    childCounts: countsOf(counts.get(row.id) ?? []),
  };
}

function countsOf(rows: readonly CountRow[]): ChildCounts {
  const counts = { queue: 0, work: 0, review: 0, blocked: 0, terminal: 0 };
  for (const row of rows) counts[row.role] += row.count;
  return counts;
}

function claimsOf(rows: readonly CountRow[]): ClaimSummary {
  const sum = (of: (row: CountRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const [active, expired] = [sum((row) => row.active), sum((row) => row.expired)];
  return { active, expired, unclaimed: sum((row) => row.count) - active - expired };
}
