/** `query_rules`: what a project's agents go by, by key or from the note that names it. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id } from "../answers.ts";
import { countPresent, crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import { ruleKey } from "../documents.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";
import { noteKey } from "../text-fields.ts";

const OPERATIONS = ["get", "list"] as const;

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    rootId: fields.itemRef.optional().describe("The project."),
    key: ruleKey.optional().describe("get: with rootId."),
    itemId: fields.itemRef.optional().describe("get: with noteKey, instead:"),
    noteKey: noteKey.optional().describe("the rule that this note's skill names."),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).optional(),
    offset: z.int().min(0).optional(),
  })
  .superRefine(...crossField(rules));

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if (call.operation === "list") {
    if (call.rootId === undefined) add(["rootId"], "is needed: whose rules to list");
    for (const name of ["key", "itemId", "noteKey"])
      if (call[name] !== undefined) add([name], "belongs to get");
  }
  if (call.operation !== "get") return;
  for (const name of ["limit", "offset"]) if (call[name] !== undefined) add([name], "belongs to list");
  const byKey = countPresent(call, ["rootId", "key"]);
  const byNote = countPresent(call, ["itemId", "noteKey"]);
  if (byKey > 0 && byNote > 0) add(["key"], "cannot be combined: send rootId and key, or itemId and noteKey");
  else if (byKey !== 2 && byNote !== 2) add(["key"], "is needed with rootId; or itemId and noteKey");
}

export type GetRule = {
  readonly operation: "get";
  readonly by:
    | { readonly rootId: string; readonly key: string }
    | { readonly itemId: string; readonly noteKey: string };
};
export type ListRules = {
  readonly operation: "list";
  readonly rootId: string;
  readonly limit: number;
  readonly offset: number;
};
/** A parsed call. */
export type QueryRulesInput = GetRule | ListRules;
export type QueryRulesRequest = z.input<typeof shape>;

const input = shape.transform((call): QueryRulesInput => {
  const { rootId = "", key = "", itemId, noteKey: note = "" } = call; // Never empty where it counts: see the rules.
  if (call.operation === "list") {
    const { limit = LIST_LIMIT_DEFAULT, offset = 0 } = call;
    return { operation: "list", rootId, limit, offset };
  }
  return { operation: "get", by: itemId === undefined ? { rootId, key } : { itemId, noteKey: note } };
});

const ruleShape = {
  rootId: id,
  key: z.string(),
  slug: z.string(),
  /** Changes with the text. */
  rulesVersion: z.string(),
  updatedAt: at,
};
const got = answer({
  ...ruleShape,
  body: z.string(),
  /** Left out when it was asked for by key. */
  resolvedFrom: answer({ itemId: id, noteKey: z.string(), skill: z.string() }).optional(),
});
const list = answer({
  rules: z.array(answer({ key: z.string(), rulesVersion: z.string(), updatedAt: at })),
  returned: z.int(),
  hasMore: z.boolean(),
  total: z.int().optional(),
  offset: z.int(),
});
const output = z.union([got, list]);
export type GetRuleOutput = z.output<typeof got>;
export type ListRulesOutput = z.output<typeof list>;
export type QueryRulesOutput = z.output<typeof output>;

function render(result: QueryRulesOutput): string {
  if ("rules" in result) {
    const { rules: found, returned, total, hasMore, offset } = result;
    return bounded([
      `${returned} rules ${facts({ total })}${hasMore ? `; next page: offset ${offset + returned}` : ""}`,
      ...found.map(({ key, updatedAt }) => `${key} ${facts({ updatedAt })}`),
    ]);
  }
  const { key, rootId, updatedAt } = result;
  return bounded([`rule ${key} ${facts({ rootId, updatedAt })}`, result.body.slice(0, 16_000)]);
}

export const queryRules = defineOperation({
  name: "query_rules",
  description:
    "Rules of a project: get one by rootId and key, or by itemId and noteKey (what that note's skill names); list.",
  input,
  output,
  annotations: readsOnly("Query rules"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
