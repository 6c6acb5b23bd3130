/** Pages of REST: numbered from 1, with the size that was asked for. */
import { z } from "zod";
import { answer } from "../answers.ts";
import { ITEM_PAGE_MAX, LIST_LIMIT_DEFAULT } from "../limits.ts";

/** So many pages in, the offset is no longer a number that the database takes. */
const PAGE_MAX = 10_000_000;

/** The parameters of a route that answers pages of at most `max`. */
export function pageShape(max: number = ITEM_PAGE_MAX) {
  return {
    page: z.int().min(1).max(PAGE_MAX).default(1).describe("From 1."),
    pageSize: z.int().min(1).max(max).default(Math.min(LIST_LIMIT_DEFAULT, max)),
  };
}

export interface PageAsked {
  readonly page: number;
  readonly pageSize: number;
}

/** The same as the operations take it. */
export function toWindow({ page, pageSize }: PageAsked): { limit: number; offset: number } {
  return { limit: pageSize, offset: (page - 1) * pageSize };
}

/** What such a route answers. */
export function pageOf<S extends z.ZodType>(item: S) {
  return answer({
    items: z.array(item),
    page: z.int(),
    pageSize: z.int(),
    totalItems: z.int().optional(),
    hasMore: z.boolean(),
  });
}

/** The page itself. */
export function toPage<T>(
  items: readonly T[],
  { page, pageSize }: PageAsked,
  { total, hasMore }: { readonly total: number; readonly hasMore: boolean },
): { items: readonly T[]; page: number; pageSize: number; totalItems: number; hasMore: boolean } {
  return { items, page, pageSize, totalItems: total, hasMore };
}
