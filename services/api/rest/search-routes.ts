/** Searching items and notes by their words. */
import { z } from "zod";
import * as fields from "../../contract/fields.ts";
import { LIST_LIMIT_DEFAULT } from "../../contract/limits.ts";
import { searchHitDto } from "../../contract/rest/note-dtos.ts";
import type { SearchHits } from "../../contract/searching.ts";
import { type RestAnswer, type Route, route, type Success } from "./route.ts";

const AREA = "Search";
const hits: Success[] = [
  {
    status: 200,
    description: "The best hits first; `x-total-hits` says how many there are",
    schema: z.array(searchHitDto),
  },
];

function toHits(output: SearchHits): RestAnswer {
  const body = output.hits.map(({ key, ...hit }) => ({
    ...hit,
    ...(key === undefined ? {} : { noteKey: key }),
  }));
  return { status: 200, body, headers: { "x-total-hits": String(output.totalHits) } };
}

const q = z.string().describe("All of its words must be there.");

export const SEARCH_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/search",
    area: AREA,
    summary: "Search items and their notes",
    operation: "query_items",
    query: z.strictObject({
      q,
      ancestorId: fields.itemRef.optional(),
      role: z.string().optional().describe("One or several."),
      tag: z.string().optional().describe("Has any of them."),
      kinds: z.string().optional().describe("item,note."),
    }),
    success: hits,
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ query: { q: words, tag, ...query } }) => ({
      operation: "search",
      query: words,
      tags: tag,
      limit: LIST_LIMIT_DEFAULT,
      ...query,
    }),
    toResponse: (output) => toHits(output as SearchHits),
  }),
  route({
    method: "GET",
    path: "/notes/search",
    area: AREA,
    summary: "Search the bodies of notes",
    operation: "query_notes",
    query: z.strictObject({ q, ancestorId: fields.itemRef.optional(), itemId: fields.itemRef.optional() }),
    success: hits,
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ query: { q: words, ancestorId, itemId } }) => ({
      operation: "search",
      query: words,
      limit: LIST_LIMIT_DEFAULT,
      ...(ancestorId === undefined && itemId === undefined ? {} : { scope: { ancestorId, itemId } }),
    }),
    toResponse: (output) => toHits(output as SearchHits),
  }),
];
