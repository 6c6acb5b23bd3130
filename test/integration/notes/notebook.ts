/** What tests of notes ask for: a schema that needs no configuration, and short ways to say things. */
import type { SchemaSource } from "../../../services/engine/config/schema-source.ts";
import { type ItemSchema, type NoteSpec, SCHEMA_FREE } from "../../../services/core/schemas/item-schema.ts";
import type { TestEngine } from "../../support/engine.ts";

export function noteSpec(key: string, role: NoteSpec["role"], more: Partial<NoteSpec> = {}): NoteSpec {
  return {
    key,
    role,
    required: true,
    description: "",
    guidance: null,
    skill: null,
    maxLength: null,
    seat: null,
    independentOf: [],
    ...more,
  };
}

/** Items of the type have the schema; all others have none. */
export function schemaOfType(type: string, schema: Partial<ItemSchema>): SchemaSource {
  const matched: ItemSchema = { ...SCHEMA_FREE, type, matched: true, source: "global", ...schema };
  const of = (item: { readonly type: string | null }) => (item.type === type ? matched : SCHEMA_FREE);
  return { load: () => Promise.resolve({ of }) };
}

export async function makeItem(engine: TestEngine, more: object = {}): Promise<string> {
  const { items } = await engine.call("manage_items", {
    operation: "create",
    items: [{ title: "item", ...more }],
  });
  return items[0].id as string;
}

interface NoteText {
  readonly itemId: string;
  readonly key?: string;
  readonly role?: string;
  readonly body?: string | null;
  readonly [more: string]: unknown;
}

/** Writes one note and answers what became of it. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test that reads a wrong field fails by itself
export async function write(engine: TestEngine, note: NoteText, more: object = {}): Promise<any> {
  const answer = await engine.call("manage_notes", {
    operation: "upsert",
    notes: [{ key: "plan", role: "queue", ...note }],
    ...more,
  });
  return answer.notes[0] ?? answer.failures[0];
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
export async function read(engine: TestEngine, itemId: string, key = "plan"): Promise<any> {
  return await engine.call("query_notes", { operation: "get", itemId, key });
}
