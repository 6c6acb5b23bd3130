/**
 * Which schema an item has: by its type, else by its tags, in the text of its project and in
 * that of the server. `default` is the last resort of a text, never a match.
 *
 *   legacy    the project's text as a whole (exact, then `default`), then the server's
 *   layered   exact matches of both first, then both defaults
 *   isolated  the project's text alone
 */
import type { ConfigLayer, SchemaResolution, TypeSchema } from "./config-layer.ts";

export interface Layers {
  /** Null: the project brought no text. */
  readonly root: ConfigLayer | null;
  readonly global: ConfigLayer;
}

export interface FoundSchema {
  readonly name: string;
  readonly schema: TypeSchema;
  readonly source: "root" | "global";
}

const DEFAULT = "default";

/** A project's own word counts; for the server alone there is nothing to be isolated from. */
export function resolutionOf({ root, global }: Layers): SchemaResolution {
  const below = global.resolution === "isolated" ? "layered" : global.resolution;
  return root?.resolution ?? below ?? "legacy";
}

export function findSchema(
  layers: Layers,
  item: { readonly type: string | null; readonly tags: readonly string[] },
): FoundSchema | null {
  const byType = item.type === null ? null : search(layers, [item.type]);
  return byType ?? search(layers, item.tags);
}

/** The first of the names that is defined, or a default, in the order that the mode sets. */
function search(layers: Layers, names: readonly string[]): FoundSchema | null {
  const inRoot = (wanted: readonly string[]) => lookUp(layers.root, wanted, "root");
  const inGlobal = (wanted: readonly string[]) => lookUp(layers.global, wanted, "global");
  switch (resolutionOf(layers)) {
    case "legacy":
      return inRoot(names) ?? inRoot([DEFAULT]) ?? inGlobal(names) ?? inGlobal([DEFAULT]);
    case "layered":
      return inRoot(names) ?? inGlobal(names) ?? inRoot([DEFAULT]) ?? inGlobal([DEFAULT]);
    case "isolated":
      return inRoot(names) ?? inRoot([DEFAULT]);
  }
}

function lookUp(
  layer: ConfigLayer | null,
  names: readonly string[],
  source: FoundSchema["source"],
): FoundSchema | null {
  if (layer === null) return null;
  for (const name of names) {
    const schema = layer.schemas.get(name);
    if (schema !== undefined) return { name, schema, source };
  }
  return null;
}
