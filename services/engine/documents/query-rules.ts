/** `query_rules`: rules are documents whose slug starts with `rule/`; a note of a schema names one as its skill. */
import { readItem } from "../../../db/stores/item-read-store.ts";
import { findDocument, listDocuments } from "../../../db/stores/plan-document-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { RULE_PREFIX } from "../../contract/documents.ts";
import { fault } from "../../contract/errors.ts";
import type {
  GetRule,
  GetRuleOutput,
  ListRules,
  ListRulesOutput,
  QueryRulesInput,
  QueryRulesOutput,
} from "../../contract/operations/query-rules.ts";
import { requireRoot } from "../config/require-root.ts";
import type { SchemaSource } from "../config/schema-source.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { requireItem } from "../resolve-items.ts";
import type { Looker } from "../access.ts";

export async function queryRules(
  deps: EngineDeps,
  input: QueryRulesInput,
  caller: Caller,
): Promise<QueryRulesOutput> {
  return await inSnapshot(deps, async (handle) =>
    input.operation === "list"
      ? await listRules(handle, input, caller)
      : await getRule(handle, deps.schemas, input, caller),
  );
}

async function listRules(handle: Handle, input: ListRules, caller: Looker): Promise<ListRulesOutput> {
  const { limit, offset } = input;
  const rootId = await requireItem(handle, input.rootId, caller);
  await requireRoot(handle, rootId);
  const page = { rootId, status: null, prefix: RULE_PREFIX, limit, offset };
  const { rows, total } = await listDocuments(handle, page);
  return {
    rules: rows.map((row) => ({
      key: keyOf(row.slug),
      rulesVersion: row.content_hash,
      updatedAt: row.modified_at.toISOString(),
    })),
    returned: rows.length,
    hasMore: offset + rows.length < (total ?? 0),
    ...(total === null ? {} : { total }),
    offset,
  };
}

async function getRule(
  handle: Handle,
  schemas: SchemaSource,
  { by }: GetRule,
  caller: Looker,
): Promise<GetRuleOutput> {
  if ("key" in by) {
    const rootId = await requireItem(handle, by.rootId, caller);
    await requireRoot(handle, rootId);
    return await readRule(handle, rootId, by.key);
  }
  const itemId = await requireItem(handle, by.itemId, caller);
  const { rootId, skill } = await skillOf(handle, schemas, itemId, by.noteKey);
  const rule = await readRule(handle, rootId, keyOf(skill));
  return { ...rule, resolvedFrom: { itemId, noteKey: by.noteKey, skill } };
}

/** What the note's entry in the schema that holds for the item names as its skill. */
async function skillOf(
  handle: Handle,
  schemas: SchemaSource,
  itemId: string,
  noteKey: string,
): Promise<{ readonly rootId: string; readonly skill: string }> {
  const row = await readItem(handle, itemId);
  if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
  const { root_id: rootId, type, tags, traits } = row;
  const loaded = await schemas.load(handle, [rootId]);
  const note = loaded.of({ rootId, type, tags, traits }).notes.find(({ key }) => key === noteKey);
  if (note === undefined) {
    throw fault("RESOURCE_NOT_FOUND", `the schema of item ${itemId} has no note "${noteKey}"`, {
      hint: "query_items with operation schema shows its notes, and the skill of each.",
    });
  }
  if (note.skill === null) {
    throw fault("RESOURCE_NOT_FOUND", `the note "${noteKey}" of item ${itemId} names no skill, so no rule`, {
      hint: "List the project's rules with query_rules, operation list.",
    });
  }
  return { rootId, skill: note.skill };
}

/** A skill may name a rule by its key or by its slug. */
function keyOf(text: string): string {
  return text.startsWith(RULE_PREFIX) ? text.slice(RULE_PREFIX.length) : text;
}

async function readRule(handle: Handle, rootId: string, key: string): Promise<GetRuleOutput> {
  const slug = `${RULE_PREFIX}${key}`;
  const found = await findDocument(handle, rootId, slug);
  if (found === null) {
    throw fault("RESOURCE_NOT_FOUND", `the project ${rootId} has no rule "${key}"`, {
      hint: `Stash it with manage_plan_documents under slug ${slug}, or list the rules with query_rules.`,
    });
  }
  return {
    rootId,
    key,
    slug,
    rulesVersion: found.content_hash,
    updatedAt: found.modified_at.toISOString(),
    body: found.body,
  };
}
