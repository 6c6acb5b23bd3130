/** What the texts of an item said before, as `query_items` tells it. */
import { z } from "zod";
import { answer, id } from "./answers.ts";
import { bounded, facts } from "./rendering.ts";
import { textVersion } from "./text-fields.ts";

/** Which versions. */
export const versionsShape = {
  from: z.int().min(1).optional().describe("diff: version."),
  to: z.int().min(1).optional().describe("diff: version; default the present one."),
  before: z.int().min(1).optional().describe("history: older than this version."),
};

export interface ItemHistoryOf {
  readonly operation: "history";
  readonly itemId: string;
  readonly before: number | null;
  readonly limit: number;
}

export interface DiffItem {
  readonly operation: "diff";
  readonly itemId: string;
  readonly from: number | null;
  readonly to: number | null;
}

interface VersionsCall {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

const HISTORY_LIMIT_DEFAULT = 20;

export function toHistory(
  operation: "history" | "diff",
  itemId: string,
  call: VersionsCall,
): ItemHistoryOf | DiffItem {
  const { from = null, to = null, before = null, limit = HISTORY_LIMIT_DEFAULT } = call;
  return operation === "history" ? { operation, itemId, before, limit } : { operation, itemId, from, to };
}

/** A version of an item, with the texts that it changed. */
export const itemVersion = textVersion.extend({ fields: z.array(z.string()) });
export type ItemVersion = z.output<typeof itemVersion>;

/** What an edit by anchor met. */
export const itemEditMarks = {
  /** It was applied over a newer version than the caller knew. */
  rebased: z.boolean().optional(),
  intervening: z.array(itemVersion).optional(),
};

export const itemHistory = answer({
  itemId: id,
  version: z.int(),
  versions: z.array(itemVersion),
  hasMore: z.boolean(),
});
export type ItemHistory = z.output<typeof itemHistory>;

export const itemDiff = answer({
  itemId: id,
  from: z.int(),
  to: z.int(),
  fields: z.array(
    answer({
      field: z.string(),
      diff: z.string(),
      linesAdded: z.int(),
      linesRemoved: z.int(),
      truncated: z.boolean(),
    }),
  ),
});
export type ItemDiff = z.output<typeof itemDiff>;

const DIFF_SHOWN_MAX = 4_000;

export function renderItemHistory(result: ItemHistory): string {
  return bounded([
    `version ${result.version}; ${result.versions.length} changes of texts${result.hasMore ? "; there are older ones: pass before" : ""}`,
    ...result.versions.map((one) =>
      facts({ version: one.version, at: one.at, fields: one.fields, by: one.actor?.id }),
    ),
  ]);
}

export function renderItemDiff(result: ItemDiff): string {
  const head = facts({ from: result.from, to: result.to });
  if (result.fields.length === 0) return `${head}: no text is different`;
  return [head, ...result.fields.map((one) => `${one.field}:\n${one.diff}`)]
    .join("\n")
    .slice(0, DIFF_SHOWN_MAX);
}
