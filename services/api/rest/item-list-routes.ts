/** `/items` and what hangs below one, page by page. */
import { z } from "zod";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import type { ListItemsFullOutput } from "../../contract/operations/list-items.ts";
import { itemDto } from "../../contract/rest/item-dtos.ts";
import { pageOf, type PageAsked, pageShape, toPage, toWindow } from "../../contract/rest/pages.ts";
import { itemFilterShape, itemOrderShape } from "../../contract/rest/parameters.ts";
import type { RequestOf } from "../../contract/registry.ts";
import { toItemDto } from "./item-dto.ts";
import { type RestAnswer, type Route, route, type Success } from "./route.ts";

const AREA = "Items";
const page = z.strictObject(pageShape());
const listed: Success[] = [{ status: 200, description: "A page of items", schema: pageOf(itemDto) }];

function toItems(output: ListItemsFullOutput, { query }: { readonly query: PageAsked }): RestAnswer {
  return { status: 200, body: toPage(output.items.map(toItemDto), query, output) };
}

export const ITEM_LIST_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/items",
    area: AREA,
    summary: "List items by what they are and where they stand",
    operation: "list_items",
    query: z.strictObject({ ...itemFilterShape, ...itemOrderShape, ...pageShape() }),
    success: listed,
    refusals: [],
    toInput: ({ query }) => {
      const { tag, tagAny, orderBy, orderDir, page: _page, pageSize: _size, ...filter } = query;
      const input = {
        ...filter,
        allTags: tag,
        tags: tagAny,
        sortBy: orderBy,
        sortOrder: orderDir,
        ...toWindow(query),
      };
      return Object.fromEntries(
        Object.entries(input).filter(([, value]) => value !== undefined),
      ) as RequestOf<"list_items">;
    },
    toResponse: toItems,
  }),
  route({
    method: "GET",
    path: "/items/roots",
    area: AREA,
    summary: "List the items without a parent: the projects",
    operation: "list_items",
    query: page,
    success: listed,
    refusals: [],
    toInput: ({ query }) => ({ rootsOnly: true, ...toWindow(query) }),
    toResponse: toItems,
  }),
  route({
    method: "GET",
    path: "/items/{id}/children",
    area: AREA,
    summary: "List the children of an item",
    operation: "list_items",
    query: page,
    success: listed,
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: async ({ params, query }, run) => {
      // A parent that does not exist has no page without children, but none at all.
      await run("query_items", { operation: "get", itemId: params["id"] ?? "" });
      return { parentId: params["id"], sortOrder: "asc", ...toWindow(query) };
    },
    toResponse: toItems,
  }),
  route({
    method: "GET",
    path: "/items/{id}/tree",
    area: AREA,
    summary: "List an item and everything below it, level by level, itself first",
    operation: "list_items",
    query: z.strictObject({
      depth: z.int().min(0).max(TREE_DEPTH_MAX).optional().describe("So many levels below it."),
      ...pageShape(),
    }),
    success: listed,
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params, query }) => ({
      view: "tree",
      itemId: params["id"],
      ...(query.depth === undefined ? {} : { depth: query.depth }),
      ...toWindow(query),
    }),
    toResponse: toItems,
  }),
  route({
    method: "GET",
    path: "/items/{id}/breadcrumbs",
    area: AREA,
    summary: "List the ancestors of an item, the root first",
    operation: "list_items",
    success: [{ status: 200, description: "Its ancestors", schema: z.array(itemDto) }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params }) => ({ view: "path", itemId: params["id"], limit: 200 }),
    toResponse: ({ items }) => ({ status: 200, body: items.map(toItemDto) }),
  }),
];
