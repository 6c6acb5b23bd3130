/** `list_items`: pages of items in full, for programs. */
import { type ItemPageQuery, pageOfItems } from "../../../db/stores/item-page-store.ts";
import { type ItemRow, readItem } from "../../../db/stores/item-read-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import type {
  ListedFullItem,
  ListItemsFullInput,
  ListItemsFullOutput,
} from "../../contract/operations/list-items.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { isTopOf } from "../scope/scope-filter.ts";
import { fullItem, timestamps } from "./query-items.ts";
import { resolveFilter } from "./resolve-filter.ts";
import { inSnapshot } from "./snapshot.ts";
import type { Looker } from "../access.ts";

export async function listItems(
  deps: EngineDeps,
  input: ListItemsFullInput,
  caller: Caller,
): Promise<ListItemsFullOutput> {
  const { limit, offset } = input;
  return await inSnapshot(deps, async (handle) => {
    const { rows, total } = await pageOfItems(handle, await toQuery(handle, input, caller));
    const items = rows.map(listedItem);
    return { items, total, hasMore: offset + items.length < total, limit, offset };
  });
}

async function toQuery(handle: Handle, input: ListItemsFullInput, caller: Looker): Promise<ItemPageQuery> {
  const { view, role, assignee, readiness, claimStatus, sortBy, sortOrder, limit, offset, allTags } = input;
  const rootId = input.rootId === undefined ? undefined : await requireItem(handle, input.rootId, caller);
  const stated = await resolveFilter(handle, input, caller);
  const filter =
    rootId !== undefined && isTopOf(caller, rootId) ? { ...stated, scope: [rootId] } : { ...stated, rootId };
  const conditions = { filter, roles: role, assignee, readiness, claimStatus, allTags };
  const page = { ...conditions, sortBy, sortOrder, limit, offset };
  const { scope } = caller.access;
  if (view === "list" && input.rootsOnly)
    return scope === null ? { ...page, depth: 0 } : { ...page, tops: scope };
  if (view === "list") return page;
  const item = await existing(handle, input.itemId ?? "", caller); // Never empty: the contract asks for it.
  return view === "path"
    ? { ...page, ids: item.ancestors }
    : { ...page, tree: { id: item.item_id, levels: input.depth ?? TREE_DEPTH_MAX } };
}

async function existing(handle: Handle, ref: string, caller: Looker): Promise<ItemRow> {
  const id = await requireItem(handle, ref, caller);
  const row = await readItem(handle, id);
  if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  return row;
}

/** Two hundred descriptions at their longest would be thirteen megabytes. */
const DESCRIPTION_LENGTH = 1_000;

function listedItem(row: ItemRow): ListedFullItem {
  const { metadata: _metadata, ...item } = fullItem(row);
  const description = item.description ?? null;
  const isLong = description !== null && description.length > DESCRIPTION_LENGTH;
  return {
    ...item,
    ...timestamps(row),
    description: isLong ? clipText(description, DESCRIPTION_LENGTH) : description,
    ...(isLong ? { clipped: ["description"] } : {}),
  };
}
