/** `query_items`: one item in full, or a page of many without their bodies. */
import { findPause } from "../../../db/stores/breaker-store.ts";
import {
  type ItemConditions,
  type ItemRow,
  listItems,
  readHeldAncestors,
  readItem,
} from "../../../db/stores/item-read-store.ts";
import { toItemState } from "../../../db/stores/state-row.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type {
  FullItem,
  GetItem,
  ListItems,
  ListItemsOutput,
  QueryItemsInput,
  QueryItemsOutput,
  SearchItems,
} from "../../contract/operations/query-items.ts";
import type { SearchHits } from "../../contract/searching.ts";
import { findObstacles } from "../../core/readiness.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { itemDiff, itemHistory } from "../items/item-versions.ts";
import { requireItem } from "../resolve-items.ts";
import { searchTexts } from "../search/search-texts.ts";
import { readPaths } from "./ancestor-paths.ts";
import { describeSchema } from "./describe-schema.ts";
import { fitItem } from "./fit-item.ts";
import { itemFacts } from "./item-facts.ts";
import { fitPage } from "./fit-page.ts";
import { overviewOf, overviewOfItem } from "./overview.ts";
import { resolveFilter } from "./resolve-filter.ts";
import { inSnapshot } from "./snapshot.ts";
import type { Looker } from "../access.ts";

export async function queryItems(
  deps: EngineDeps,
  input: QueryItemsInput,
  caller: Caller,
): Promise<QueryItemsOutput> {
  return await inSnapshot(deps, async (handle) => {
    switch (input.operation) {
      case "get":
        return await getItem(handle, input, caller);
      case "list":
        return await listPage(handle, input, caller);
      case "search":
        return await searchPage(handle, input, caller);
      case "schema":
        return await describeSchema(handle, deps.schemas, input, caller);
      case "history":
        return await itemHistory(handle, input, caller);
      case "diff":
        return await itemDiff(handle, input, caller);
      case "overview":
        return input.itemId === undefined
          ? await overviewOf(handle, input, caller)
          : await overviewOfItem(handle, await getItem(handle, { itemId: input.itemId }, caller), input);
    }
  });
}

async function getItem(
  handle: Handle,
  input: Pick<GetItem, "itemId"> & Partial<GetItem>,
  caller: Looker,
): Promise<FullItem & { ready: boolean }> {
  const id = await requireItem(handle, input.itemId, caller);
  const row = await readItem(handle, id);
  if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  const held = await readHeldAncestors(handle, row.ancestors);
  const item = toItemState(row);
  // As a stranger without capabilities would be told, in the role that the item is in.
  const obstacles = findObstacles(
    {
      item,
      heldAncestors: held.map((one) => ({ agent: one.agent, expiresAt: one.expires_at.getTime() })),
      paused: await findPause(handle, row.root_id),
    },
    { agent: null, capabilities: [] },
    { roles: ["queue", "work", "review"], containers: false, startable: false },
    row.now.getTime(),
  );
  const path = input.includeAncestors ? await readPaths(handle, [row.ancestors]) : null;
  return fitItem({
    ...fullItem(row),
    ready: obstacles.length === 0,
    ...(path === null ? {} : { ancestors: path(row.ancestors) }),
    ...(input.includeTimestamps ? timestamps(row) : {}),
  });
}

export function fullItem(row: ItemRow): FullItem {
  const live = row.agent !== null && row.expires_at !== null && row.expires_at > row.now;
  return {
    id: row.item_id,
    parentId: row.parent_id,
    rootId: row.root_id,
    depth: row.depth,
    title: row.title,
    summary: row.summary,
    description: row.description,
    role: row.role,
    previousRole: row.previous_role,
    outcome: row.outcome,
    statusLabel: row.status_label,
    priority: row.priority,
    complexity: row.complexity,
    type: row.type,
    tags: csv(row.tags),
    traits: csv(row.traits),
    needs: csv(row.needs),
    assignee: row.assignee,
    properties: row.properties,
    metadata: row.metadata,
    requiresVerification: row.requires_verification,
    version: row.version,
    attempts: row.attempts,
    dead: row.dead,
    availableAt: row.available_at?.toISOString() ?? null,
    ...(row.due_at === null ? {} : { dueAt: row.due_at.toISOString() }),
    isClaimed: live,
    ...(row.agent !== null && !live ? { claimLapsed: true } : {}),
    ...(row.blockers > 0 ? { blockers: row.blockers } : {}),
    ...(row.ancestor_blockers > 0 ? { blockedAncestors: row.ancestor_blockers } : {}),
    ...(row.open_children > 0 ? { openChildren: row.open_children } : {}),
  };
}

async function listPage(handle: Handle, input: ListItems, caller: Looker): Promise<ListItemsOutput> {
  const { limit, offset, sortBy, sortOrder } = input;
  const conditions = await conditionsOf(handle, input, caller);
  const { rows, total } = await listItems(handle, { ...conditions, sortBy, sortOrder, limit, offset });
  const path = input.includeAncestors
    ? await readPaths(
        handle,
        rows.map((row) => row.ancestors),
      )
    : null;
  const items = fitPage(
    rows.map((row) => ({
      id: row.item_id,
      ...itemFacts(row),
      ...(path === null ? {} : { ancestors: path(row.ancestors) }),
      ...(input.includeTimestamps ? timestamps(row) : {}),
    })),
  );
  return { items, total, returned: items.length, hasMore: offset + items.length < total, limit, offset };
}

async function searchPage(handle: Handle, input: SearchItems, caller: Looker): Promise<SearchHits> {
  const itemId = input.itemId === undefined ? undefined : await requireItem(handle, input.itemId, caller);
  return await searchTexts(handle, {
    ...input,
    within: { ...(await conditionsOf(handle, input, caller)), itemId },
  });
}

async function conditionsOf(
  handle: Handle,
  input: ListItems | SearchItems,
  caller: Looker,
): Promise<ItemConditions> {
  const { role, depth, assignee, readiness, claimStatus, dueBefore } = input;
  return {
    filter: await resolveFilter(handle, input, caller),
    roles: role,
    depth,
    assignee,
    readiness,
    claimStatus,
    dueBefore,
  };
}

function csv(words: readonly string[]): string | null {
  return words.length === 0 ? null : words.join(",");
}

export function timestamps(row: Pick<ItemRow, "created_at" | "modified_at" | "role_changed_at">): {
  createdAt: string;
  modifiedAt: string;
  roleChangedAt: string;
} {
  return {
    createdAt: row.created_at.toISOString(),
    modifiedAt: row.modified_at.toISOString(),
    roleChangedAt: row.role_changed_at.toISOString(),
  };
}
