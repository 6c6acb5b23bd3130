/** Configuration texts as the rules of schemas see them, written as people write them. */
import { parseProjectConfig } from "../../../../services/contract/config/parse-config.ts";
import { type ConfigLayer, EMPTY_LAYER } from "../../../../services/core/schemas/config-layer.ts";
import type { Layers } from "../../../../services/core/schemas/find-schema.ts";
import type { ItemSchema } from "../../../../services/core/schemas/item-schema.ts";
import { resolveSchema, type SchemaSubject } from "../../../../services/core/schemas/resolve-schema.ts";

export function layer(sections: object, fingerprint: string | null = null): ConfigLayer {
  const parsed = parseProjectConfig(sections);
  if (!parsed.ok) throw new Error(parsed.faults.join("\n"));
  return { ...parsed.config.layer, fingerprint };
}

export function layers(root: object | null, global: object = {}): Layers {
  return {
    root: root === null ? null : layer(root, "root"),
    global: Object.keys(global).length === 0 ? EMPTY_LAYER : layer(global, "global"),
  };
}

export function schemaOf(between: Layers, item: Partial<SchemaSubject> = {}): ItemSchema {
  return resolveSchema(between, { type: null, tags: [], traits: [], ...item });
}

export const note = (key: string, role = "work", more: object = {}): object => ({
  key,
  role,
  required: true,
  ...more,
});

/** Types by name, each with one note called like its text and itself. */
export function types(text: string, ...names: string[]): object {
  return {
    work_item_schemas: Object.fromEntries(names.map((name) => [name, { notes: [note(`${text}-${name}`)] }])),
  };
}

export const keysOf = (schema: ItemSchema): string[] => schema.notes.map((one) => one.key);
