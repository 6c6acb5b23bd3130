/** Searching for words: what `query_items` and `query_notes` have in common. */
import { z } from "zod";
import { answer, id } from "./answers.ts";
import type { AddFault } from "./cross-field.ts";
import * as fields from "./fields.ts";
import { unlisted } from "./listing-marks.ts";
import { QUERY_LENGTH_MAX, QUERY_TOKENS_MAX } from "./limits.ts";
import { bounded, oneLine } from "./rendering.ts";
import { MATCH_MODES, SEARCH_KINDS, type SearchKind } from "./vocabulary.ts";

/** What was typed, cut at white space; each piece is wanted, and none is an operator. */
export function tokensOf(query: string): string[] {
  return [...new Set(query.split(/\s+/).filter((token) => token !== ""))];
}

/** Shorter ones are in too many texts for an index to know; letters beyond ASCII often are words by themselves. */
export function isSearchable(token: string): boolean {
  return token.length >= 3 || (token.length === 2 && /[^\p{ASCII}]/u.test(token));
}

export const searchQuery = z
  .string()
  .trim()
  .min(1)
  .max(QUERY_LENGTH_MAX)
  .superRefine((text, ctx) => {
    const count = tokensOf(text).length;
    if (count <= QUERY_TOKENS_MAX) return;
    const message = `has ${count} words, at most ${QUERY_TOKENS_MAX}: all of them must match, so name fewer`;
    ctx.addIssue({ code: "custom", message, input: text });
  });

/** Tags as the original sends them here: a list. */
const tagList = z
  .array(z.string())
  .min(1)
  .transform((tags, ctx) => {
    const parsed = fields.tagCsv.safeParse(tags.join(","));
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues)
      ctx.addIssue({ code: "custom", message: issue.message, input: tags });
    return z.NEVER;
  });

/** What to search in, comma-separated. */
export const kindCsv = z.string().transform((text, ctx): SearchKind[] => {
  const parts = text.split(",").map((part) => part.trim().toLowerCase());
  const known = SEARCH_KINDS.filter((kind) => parts.includes(kind));
  if (known.length !== new Set(parts).size) {
    const message = `"${text.slice(0, 40)}" must be ${SEARCH_KINDS.join(" or ")}, or both separated by a comma`;
    ctx.addIssue({ code: "custom", message, input: text });
  }
  return known;
});

/** How to search, for whoever searches. */
export const searchingShape = {
  query: searchQuery.optional(),
  matchMode: z.enum(MATCH_MODES).optional(),
  snippet: unlisted(fields.flag.optional()),
  explain: unlisted(fields.flag.optional()),
};

/** Where to search; the original's own place for what is a filter everywhere else. */
export const scope = z
  .strictObject({
    ancestorId: fields.itemRef.optional(),
    itemId: fields.itemRef.optional(),
    tags: tagList.optional(),
    role: fields.roleCsv().optional(),
  })
  .describe("Where to search.");

/** A substring search needs something that an index knows. */
export function substringsLongEnough(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if (call.matchMode !== "substring" || typeof call.query !== "string") return;
  if (!tokensOf(call.query).some(isSearchable))
    add(
      ["query"],
      "needs a word of at least 3 characters for matchMode substring; use text, or a longer word",
    );
}

export const searchHit = answer({
  kind: z.enum(SEARCH_KINDS),
  itemId: id,
  noteId: id.optional(),
  key: z.string().optional(),
  role: z.string(),
  title: z.string(),
  field: z.string(),
  snippet: z.string().optional(),
  score: z.number(),
  matchedIn: z.array(z.string()),
  explain: answer({
    trigramRank: z.int().optional(),
    textRank: z.int().optional(),
    similarRank: z.int().optional(),
    rrfK: z.int(),
  }).optional(),
});
export type SearchHit = z.output<typeof searchHit>;

export const searchHits = answer({
  hits: z.array(searchHit),
  totalHits: z.int(),
  truncated: z.boolean(),
  returned: z.int(),
  hasMore: z.boolean(),
  nextOffset: z.int().nullable(),
  limit: z.int(),
  offset: z.int(),
});
export type SearchHits = z.output<typeof searchHits>;

export function renderHits(result: SearchHits): string {
  const { hits, totalHits, truncated, hasMore, offset, returned } = result;
  if (totalHits === 0) return "Nothing matches all of these words. Try fewer, or a part of one.";
  return bounded([
    `${returned} of ${totalHits}${truncated ? " or more" : ""} hits${hasMore ? `; next page: offset ${offset + returned}` : ""}`,
    ...hits.map((hit) => {
      const note = hit.kind === "note" ? ` note ${hit.key}` : "";
      const why = hit.snippet === undefined ? "" : ` | ${hit.field}: ${oneLine(hit.snippet, 160)}`;
      return `${hit.itemId}${note} [${hit.role}] ${oneLine(hit.title, 80)}${why}`;
    }),
  ]);
}
