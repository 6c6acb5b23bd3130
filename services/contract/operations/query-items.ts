/** `query_items`: read one item, or list items by what they are and where they stand. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { ancestor, answer, fullItemShape, id, itemHeadShape, offsetPage } from "../answers.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { commonFilterShape, windowsInOrder } from "../filters.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, SEARCH_LIMIT_DEFAULT, TREE_DEPTH_MAX } from "../limits.ts";
import {
  type DiffItem,
  itemDiff,
  itemHistory,
  type ItemHistoryOf,
  renderItemDiff,
  renderItemHistory,
  toHistory,
  versionsShape,
} from "../item-history.ts";
import { renderItem, renderList } from "../item-rendering.ts";
import { itemOverview, overviewPage, renderItemOverview, renderOverviewPage } from "../overviews.ts";
import { unlisted } from "../listing-marks.ts";
import { type AskSchema, renderSchema, schemaAnswer, schemaRules } from "../schema-answer.ts";
import {
  kindCsv,
  renderHits,
  scope,
  searchHits,
  searchingShape,
  substringsLongEnough,
} from "../searching.ts";
import {
  CLAIM_STATUSES,
  type MatchMode,
  READINESS,
  SEARCH_KINDS,
  type SearchKind,
  SORT_FIELDS,
  type SortField,
} from "../vocabulary.ts";

const shape = z
  .strictObject({
    operation: z.enum(["get", "search", "overview", "schema", "history", "diff"]),
    itemId: fields.itemRef.optional().describe("get; schema; overview of it; with query: its own texts."),
    rootId: fields.itemRef.optional().describe("schema of a type in this project."),
    anchorId: fields.itemRef.optional().describe("overview of its children."),
    includeAncestors: fields.flag.default(false),
    includeTimestamps: fields.flag.default(false),
    includeChildren: fields.flag.optional().describe("overview of roots."),
    excludeTerminal: fields.flag.optional().describe("overview."),
    ...searchingShape,
    ...versionsShape,
    scope: unlisted(scope.optional()),
    kinds: kindCsv.optional().describe("item,note."),
    ...commonFilterShape,
    role: fields.roleCsv().optional(),
    depth: z.int().min(0).max(TREE_DEPTH_MAX).optional(),
    assignee: fields.agentName.optional().describe("Meant for this actor.id."),
    readiness: z.enum(READINESS).optional().describe("ready: can be claimed now."),
    claimStatus: z.enum(CLAIM_STATUSES).optional(),
    dueBefore: fields.instant.optional(),
    sortBy: z.enum(SORT_FIELDS).optional().describe("Default createdAt."),
    sortOrder: z.enum(["asc", "desc"]).optional().describe("Default desc."),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).optional().describe("Default 50; 20 with query."),
    offset: fields.offset,
  })
  .superRefine(...crossField(rules));

type Shape = z.output<typeof shape>;
type Field = keyof Shape;

/** With a query, results come by relevance; without one, nothing is searched in. */
const ONLY_WITH_QUERY: readonly Field[] = ["matchMode", "snippet", "explain", "scope", "kinds"];
const ONLY_WITHOUT_QUERY: readonly Field[] = ["sortBy", "sortOrder", "includeAncestors", "includeTimestamps"];
const PAGE: readonly Field[] = ["limit", "offset"];
const FILTERS = [
  ...Object.keys(commonFilterShape),
  "role",
  "depth",
  "assignee",
  "readiness",
  "claimStatus",
  "dueBefore",
] as readonly Field[];

/** An argument that an operation would ignore is refused: nobody finds out otherwise that it had no effect. */
const FIELDS_OF: Readonly<Record<Shape["operation"], readonly Field[]>> = {
  get: ["itemId", "includeAncestors", "includeTimestamps"],
  search: ["query", "itemId", ...ONLY_WITH_QUERY, ...ONLY_WITHOUT_QUERY, ...FILTERS, ...PAGE],
  overview: ["itemId", "anchorId", "includeChildren", "excludeTerminal", ...PAGE],
  schema: ["itemId", "type", "rootId"],
  history: ["itemId", "before", "limit"],
  diff: ["itemId", "from", "to"],
};

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  windowsInOrder(call, add);
  substringsLongEnough(call, add);
  const operation = call.operation as Shape["operation"];
  if (!Object.hasOwn(FIELDS_OF, operation)) return;
  if (["get", "history", "diff"].includes(operation) && call.itemId === undefined)
    add(["itemId"], "is needed: which item");
  if (operation === "search") searchRules(call, add);
  if (operation === "schema") schemaRules(call, add);
  if (call.itemId !== undefined && call.anchorId !== undefined)
    add(["anchorId"], "does not go with itemId: name one, the item itself or the anchor of its children");
  for (const [name, value] of Object.entries(call)) {
    if (name === "operation" || value === undefined || value === false || value === 0) continue;
    if (FIELDS_OF[operation].includes(name as Field)) continue;
    const places = Object.entries(FIELDS_OF).filter(([, known]) => known.includes(name as Field));
    if (places.length > 0)
      add([name], `does not go with ${operation}, but with ${places.map(([other]) => other).join(", ")}`);
  }
}

function searchRules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  const searching = call.query !== undefined;
  if (call.itemId !== undefined && !searching)
    add(["itemId"], "goes with get; to search below an item, pass it as ancestorId or parentId");
  for (const name of searching ? ONLY_WITHOUT_QUERY : ONLY_WITH_QUERY) {
    if (call[name] === undefined || call[name] === false) continue;
    add([name], searching ? "does not go with query: hits come best first" : "needs a query to search for");
  }
  if (typeof call.scope !== "object" || call.scope === null) return;
  const within = call.scope as Readonly<Record<string, unknown>>;
  for (const name of ["ancestorId", "itemId", "tags", "role"]) {
    if (within[name] !== undefined && call[name] !== undefined)
      add(["scope", name], `is said twice, here and as ${name}; leave one of them out`);
  }
}

export type GetItem = Pick<Shape, "includeAncestors" | "includeTimestamps"> & {
  readonly operation: "get";
  readonly itemId: string;
};
export type ListItems = Pick<
  Shape,
  | keyof typeof commonFilterShape
  | "role"
  | "depth"
  | "assignee"
  | "readiness"
  | "claimStatus"
  | "dueBefore"
  | "includeAncestors"
  | "includeTimestamps"
> & {
  readonly operation: "list";
  readonly sortBy: SortField;
  readonly sortOrder: "asc" | "desc";
  readonly limit: number;
  readonly offset: number;
};
export type SearchItems = Pick<
  Shape,
  keyof typeof commonFilterShape | "role" | "depth" | "assignee" | "readiness" | "claimStatus" | "dueBefore"
> & {
  readonly operation: "search";
  readonly query: string;
  readonly matchMode: MatchMode;
  readonly kinds: readonly SearchKind[];
  /** Texts of this item alone. */
  readonly itemId: string | undefined;
  readonly snippet: boolean;
  readonly explain: boolean;
  readonly limit: number;
  readonly offset: number;
};
export type Overview = {
  readonly operation: "overview";
  readonly itemId: string | undefined;
  readonly anchorId: string | undefined;
  readonly includeChildren: boolean;
  readonly excludeTerminal: boolean;
  readonly limit: number;
  readonly offset: number;
};
/** A parsed call; a search without a query is a list. */
export type QueryItemsInput =
  | GetItem
  | ListItems
  | SearchItems
  | Overview
  | AskSchema
  | ItemHistoryOf
  | DiffItem;
export type QueryItemsRequest = z.input<typeof shape>;

const input = shape.transform((call): QueryItemsInput => {
  const { operation, itemId, query, limit, offset, scope: within } = call;
  if (operation === "get") {
    const { includeAncestors, includeTimestamps } = call;
    return { operation, itemId: itemId ?? "", includeAncestors, includeTimestamps }; // Never empty: see the rules.
  }
  if (operation === "history" || operation === "diff") return toHistory(operation, itemId ?? "", call);
  if (operation === "overview") {
    const { anchorId, includeChildren = false, excludeTerminal = false } = call;
    const page = { limit: limit ?? LIST_LIMIT_DEFAULT, offset };
    return { operation, itemId, anchorId, includeChildren, excludeTerminal, ...page };
  }
  if (operation === "schema") return { operation, itemId, type: call.type, rootId: call.rootId };
  if (query === undefined) {
    const { sortBy = "createdAt", sortOrder = "desc" } = call;
    return { ...call, operation: "list", sortBy, sortOrder, limit: limit ?? LIST_LIMIT_DEFAULT };
  }
  return {
    ...call,
    operation,
    query,
    itemId: within?.itemId ?? itemId,
    ancestorId: within?.ancestorId ?? call.ancestorId,
    tags: within?.tags ?? call.tags,
    role: within?.role ?? call.role,
    matchMode: call.matchMode ?? "auto",
    kinds: call.kinds ?? SEARCH_KINDS,
    snippet: call.snippet ?? true,
    explain: call.explain ?? false,
    limit: limit ?? SEARCH_LIMIT_DEFAULT,
  };
});

const fullItem = answer(fullItemShape);
export type FullItem = z.output<typeof fullItem>;

const listedItem = answer({
  id,
  ...itemHeadShape,
  statusLabel: z.string().optional(),
  isClaimed: z.boolean().optional(),
  dead: z.boolean().optional(),
  dueAt: z.string().optional(),
  ancestors: z.array(ancestor).optional(),
  createdAt: z.string().optional(),
  modifiedAt: z.string().optional(),
  roleChangedAt: z.string().optional(),
});
export type ListedItem = z.output<typeof listedItem>;

const itemList = answer({
  items: z.array(listedItem),
  total: z.int(),
  returned: z.int(),
  ...offsetPage,
});
export type ListItemsOutput = z.output<typeof itemList>;

const output = z.union([
  itemList,
  searchHits,
  overviewPage,
  itemOverview,
  schemaAnswer,
  itemHistory,
  itemDiff,
  fullItem,
]);
export type QueryItemsOutput = z.output<typeof output>;

function render(result: QueryItemsOutput): string {
  if ("configSource" in result) return renderSchema(result);
  if ("versions" in result) return renderItemHistory(result);
  if ("fields" in result) return renderItemDiff(result);
  if ("hits" in result) return renderHits(result);
  if ("children" in result) return renderItemOverview(result);
  if ("truncated" in result) return renderOverviewPage(result);
  if ("items" in result) return renderList(result);
  return renderItem(result);
}

export const queryItems = defineOperation({
  name: "query_items",
  description:
    "Read items. get: one in full. search: a list by place (parentId, ancestorId = whole subtree), role, tags, ...; " +
    "with query: items and notes that have all its words. overview: counts per role for roots, itemId or anchorId. " +
    "schema: the notes expected of an item or a type, in full. history, diff: what its texts said before.",
  input,
  output,
  annotations: readsOnly("Query items"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
