/** `get_blocked_items`: what is stuck, each item with its own blockers and those of its ancestors. */
import {
  type IncomingEdgeRow,
  listStuck,
  readIncomingEdges,
  type StuckRow,
} from "../../../db/stores/blocked-store.ts";
import type {
  BlockedItem,
  GetBlockedItemsInput,
  GetBlockedItemsOutput,
} from "../../contract/operations/get-blocked-items.ts";
import { isSatisfied } from "../../core/edges.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { readPaths } from "./ancestor-paths.ts";
import { fitPage } from "./fit-page.ts";
import { resolveFilter } from "./resolve-filter.ts";
import { inSnapshot } from "./snapshot.ts";

/** Edges shown per item and ancestor; the count beside them is exact. */
const EDGES_SHOWN = 25;

export async function getBlockedItems(
  deps: EngineDeps,
  input: GetBlockedItemsInput,
  caller: Caller,
): Promise<GetBlockedItemsOutput> {
  const { limit, offset } = input;
  return await inSnapshot(deps, async (handle) => {
    const filter = await resolveFilter(
      handle,
      { parentId: input.parentId, ancestorId: input.ancestorId },
      caller,
    );
    const { rows, total } = await listStuck(handle, { filter, limit, offset });
    const edges = await readIncomingEdges(
      handle,
      rows.flatMap((row) => [row.item_id, ...row.held_by]),
      EDGES_SHOWN,
    );
    const path = input.includeAncestors
      ? await readPaths(
          handle,
          rows.map((row) => row.ancestors),
        )
      : null;
    const blockedItems = fitPage(
      rows.map((row) => ({
        ...blockedItem(row, edges, deps.settings.onCancelled, input.includeItemDetails),
        ...(path === null ? {} : { ancestors: path(row.ancestors) }),
      })),
    );
    const returned = blockedItems.length;
    return { blockedItems, total, returned, hasMore: offset + returned < total, limit, offset };
  });
}

function blockedItem(
  row: StuckRow,
  edges: ReadonlyMap<string, readonly IncomingEdgeRow[]>,
  onCancelled: "hold" | "release",
  details: boolean,
): BlockedItem {
  const own = (edges.get(row.item_id) ?? []).map((edge) => blockedBy(edge, onCancelled));
  // Of an ancestor only what it waits for counts: what it waited for is its own story.
  const above = row.held_by.flatMap((id) =>
    (edges.get(id) ?? [])
      .map((edge) => ({ ...blockedBy(edge, onCancelled), throughAncestorId: id }))
      .filter((edge) => !edge.satisfied),
  );
  return {
    itemId: row.item_id,
    title: row.title,
    role: row.role,
    priority: row.priority,
    ...(row.complexity === null ? {} : { complexity: row.complexity }),
    blockType: row.role === "blocked" ? "explicit" : "dependency",
    ...(row.dead ? { dead: true } : {}),
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    blockedBy: [...own, ...above],
    blockerCount: row.blockers + row.above,
    ...(details ? { summary: row.summary, tags: row.tags.join(",") || null } : {}),
  };
}

function blockedBy(edge: IncomingEdgeRow, onCancelled: "hold" | "release"): BlockedItem["blockedBy"][number] {
  const threshold = edge.unblock_at ?? "terminal";
  return {
    itemId: edge.from_item,
    title: edge.title,
    role: edge.role,
    ...(edge.unblock_at === null ? {} : { unblockAt: edge.unblock_at }),
    effectiveUnblockRole: threshold,
    satisfied: isSatisfied({ threshold, onCancelled: edge.on_cancelled ?? onCancelled }, edge),
    ...(edge.outcome === "cancelled" ? { cancelled: true } : {}),
  };
}
