/** What tests of notes ask for: a schema that needs no configuration, and short ways to say things. */
import { EMPTY_LAYER } from "../../../services/core/schemas/config-layer.ts";
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
  return {
    load: () => Promise.resolve({ of }),
    loadTexts: () => Promise.resolve({ of }),
    layersOf: () => Promise.resolve({ root: null, global: EMPTY_LAYER }),
  };
}

export async function makeItem(engine: TestEngine, more: object = {}): Promise<string> {
  const input = { operation: "create", items: [{ title: "item", ...more }] };
  const { items } = (await engine.call("manage_items", input)) as { items: { id: string }[] };
  return items[0]?.id ?? "";
}

interface NoteText {
  readonly itemId: string;
  readonly key?: string;
  readonly role?: string;
  readonly body?: string | null;
  readonly [more: string]: unknown;
}

/** A note as some answer shows it, or why it was not written: what a test reads that is not there, it sees. */
export interface ShownNote {
  readonly id: string;
  readonly itemId: string;
  readonly key: string;
  readonly role: string;
  readonly version: number;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly body: string;
  readonly bodyLength: number;
  readonly nextOffset?: number;
  readonly code?: string;
  readonly error: string;
  readonly index: number;
  readonly rebased?: boolean;
  readonly warning: string;
  readonly actor: { readonly id: string };
  readonly verification?: object;
}

/** What the tools of notes answer. */
export interface NotesAnswer {
  readonly notes: readonly ShownNote[];
  readonly failures: readonly ShownNote[];
  readonly itemContext: object;
  readonly returned: number;
  readonly hasMore: boolean;
  readonly versions: readonly ShownNote[];
}

/** One call of `manage_notes`; rejects what the contract refuses. */
export async function manage(engine: TestEngine, input: object): Promise<NotesAnswer> {
  return (await engine.call("manage_notes", input)) as NotesAnswer;
}

/** One call of `query_notes`. */
export async function query(engine: TestEngine, input: object): Promise<NotesAnswer> {
  return (await engine.call("query_notes", input)) as NotesAnswer;
}

/** Writes one note and answers what became of it. */
export async function write(engine: TestEngine, note: NoteText, more: object = {}): Promise<ShownNote> {
  const notes = [{ key: "plan", role: "queue", ...note }];
  const answer = await manage(engine, { operation: "upsert", notes, ...more });
  const [one] = [...answer.notes, ...(answer.failures ?? [])];
  if (one === undefined) throw new Error("neither written nor refused");
  return one;
}

/** The note with its body, from a place in it on. */
export async function read(engine: TestEngine, itemId: string, key = "plan", offset = 0): Promise<ShownNote> {
  return (await engine.call("query_notes", { operation: "get", itemId, key, offset })) as ShownNote;
}
