/** One item: read, made, changed, deleted. */
import { z } from "zod";
import { fault } from "../../contract/errors.ts";
import type {
  CreateItemsOutput,
  DeleteItemsOutput,
  UpdateItemsOutput,
} from "../../contract/operations/manage-items.ts";
import {
  INCLUDES,
  itemCreateDto,
  itemDetailDto,
  itemDto,
  itemPatchDto,
} from "../../contract/rest/item-dtos.ts";
import { words } from "../../contract/rest/parameters.ts";
import type { RequestOf } from "../../contract/registry.ts";
import { onlyElement, replayMark } from "./element.ts";
import { mismatch, quoted, versionOf } from "./etag.ts";
import { toItemDto } from "./item-dto.ts";
import { readDependencies, readItem, readNotes } from "./item-reads.ts";
import { JSON_BODY, type RestAnswer, type RestRequest, type Route, route, type Run } from "./route.ts";

const AREA = "Items";
const CHILDREN_MAX = 200;

async function included(
  { query, access }: RestRequest<{ readonly include?: readonly string[] | undefined }>,
  itemId: string,
  run: Run,
): Promise<Record<string, unknown>> {
  const wanted = new Set(query.include);
  const truncated: string[] = [];
  const parts: Record<string, unknown> = {};
  if (wanted.has("notes")) {
    const { notes, hasMore } = await readNotes(run, access, { itemId });
    parts["notes"] = notes;
    if (hasMore) truncated.push("notes");
  }
  if (wanted.has("children")) {
    const children = await run("list_items", { parentId: itemId, sortOrder: "asc", limit: CHILDREN_MAX });
    parts["children"] = children.items.map(toItemDto);
    if (children.hasMore) truncated.push("children");
  }
  if (wanted.has("deps")) {
    parts["dependencies"] = await readDependencies(run, itemId);
  }
  return { ...parts, ...(truncated.length === 0 ? {} : { truncated }) };
}

/** Words for lists, which the operations take with commas. */
const csv = (names: readonly string[] | undefined): string | undefined => names?.join(",");

const PATCHABLE = new Set(Object.keys(itemPatchDto.shape));

/** What a patch of an item is to `manage_items`. */
function toChange(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  for (const name of Object.keys(patch)) {
    if (PATCHABLE.has(name)) continue;
    const place = name === "role" ? "POST /items/{id}/advance moves items" : "it is not a part of the patch";
    throw fault("field_not_patchable", `"${name.slice(0, 60)}" cannot be patched: ${place}`);
  }
  const { properties, summary, ...rest } = patch;
  return {
    ...rest,
    ...(summary === undefined ? {} : { summary: summary ?? "" }),
    ...(properties === undefined
      ? {}
      : properties === null
        ? { properties: null }
        : { mergeProperties: properties }),
  };
}

async function withItem(run: Run, itemId: string, status: 200 | 201, replayed: boolean): Promise<RestAnswer> {
  const item = await readItem(run, itemId);
  return {
    status,
    body: item,
    headers: {
      etag: quoted(item.etag),
      ...(status === 201 ? { location: `/api/v1/items/${item.id}` } : {}),
      ...replayMark(replayed),
    },
  };
}

export const ITEM_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/items/{id}",
    area: AREA,
    summary: "Read an item",
    operation: "query_items",
    query: z.strictObject({ include: words(INCLUDES).optional().describe("notes, children, deps.") }),
    conditional: true,
    success: [{ status: 200, description: "The item", schema: itemDetailDto }],
    refusals: ["RESOURCE_NOT_FOUND", "ambiguous_id"],
    toInput: ({ params }) => ({ operation: "get", itemId: params["id"], includeTimestamps: true }),
    toResponse: async (output, request, run) => {
      const item = toItemDto(output as typeof output & { readonly id: string });
      const { include = [] } = request.query;
      const parts = include.length === 0 ? {} : await included(request, item.id, run);
      // The tag is that of the item alone: what hangs on it may change without it.
      const headers = include.length === 0 ? { etag: quoted(item.etag) } : {};
      return { status: 200, body: { ...item, ...parts }, headers };
    },
  }),
  route({
    method: "POST",
    path: "/items",
    area: AREA,
    summary: "Make an item",
    operation: "manage_items",
    body: itemCreateDto,
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 201, description: "The new item", schema: itemDto }],
    refusals: ["validation_failed", "RESOURCE_NOT_FOUND", "parent_closed"],
    toInput: ({ body, actor, requestId }) => {
      const { tags, traits, needs, ...rest } = body;
      const item = { ...rest, tags: csv(tags), traits: csv(traits), needs: csv(needs) };
      return { operation: "create", items: [item], actor, requestId } as RequestOf<"manage_items">;
    },
    toResponse: async (output, _request, run) => {
      const { items, failures } = output as CreateItemsOutput;
      const { id, replayed = false } = onlyElement(items, failures);
      return await withItem(run, id, 201, replayed);
    },
  }),
  route({
    method: "PATCH",
    path: "/items/{id}",
    area: AREA,
    summary: "Change an item by a merge patch",
    operation: "manage_items",
    body: itemPatchDto,
    bodyRule: { ...JSON_BODY, mediaTypes: ["application/merge-patch+json", "application/json"] },
    ifMatch: "required",
    idempotent: true,
    success: [{ status: 200, description: "The item as it is now", schema: itemDto }],
    refusals: [
      "validation_failed",
      "RESOURCE_NOT_FOUND",
      "field_not_patchable",
      "version_conflict",
      "claim_lost",
    ],
    toInput: async ({ params, body, actor, requestId, header }, run) => {
      const itemId = params["id"] ?? "";
      const expectedVersion = versionOf(header("if-match"));
      const change = toChange(body);
      // Whoever repeats a call is answered what the first one did, however old its tag is by now.
      if (expectedVersion !== undefined && requestId === undefined) {
        const now = await readItem(run, itemId);
        if (now.version !== expectedVersion) throw mismatch();
      }
      const item = { itemId, ...change, ...(expectedVersion === undefined ? {} : { expectedVersion }) };
      return { operation: "update", items: [item], actor, requestId };
    },
    toResponse: async (output, _request, run) => {
      const { items, failures } = output as UpdateItemsOutput;
      const { id, replayed = false } = onlyElement(items, failures);
      return await withItem(run, id, 200, replayed);
    },
    // With a key nobody looked before: the tag was old already, as far as anybody can tell.
    refused: (error, { requestId }) =>
      error.code === "version_conflict" && requestId !== undefined ? mismatch(error.message) : error,
  }),
  route({
    method: "DELETE",
    path: "/items/{id}",
    area: AREA,
    summary: "Delete an item; it can be restored from the trash",
    operation: "manage_items",
    query: z.strictObject({ recursive: z.boolean().default(false).describe("With its descendants.") }),
    idempotent: true,
    success: [{ status: 204, description: "It is in the trash" }],
    refusals: ["RESOURCE_NOT_FOUND", "has_children", "not_claim_holder", "item_held"],
    toInput: async ({ params, query, actor, requestId }) => ({
      operation: "delete",
      itemIds: [params["id"] ?? ""],
      recursive: query.recursive,
      actor,
      requestId,
    }),
    toResponse: (output) => {
      const { ids, failures, replayed = false } = output as DeleteItemsOutput;
      onlyElement(ids, failures);
      return { status: 204, headers: replayMark(replayed) };
    },
  }),
];
