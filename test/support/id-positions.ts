/**
 * Where the inputs of an operation name something by its id, found by walking its schema: a text
 * that takes a whole id and refuses what is none. So a field that is added later is found as well.
 */
import { z } from "zod";

/** `*` stands for each element of a list. */
export type IdPath = readonly string[];

const AN_ID = "0192f0c4-7a3e-7c51-9d2b-3f0a1b2c3d4e";
const NO_ID = "no-such-thing";
/** Whole ids that name nothing: the caller makes them up. */
const MADE_UP = new Set(["requestId"]);

export function idPositions(schema: z.ZodType): IdPath[] {
  const found = new Map<string, IdPath>();
  walk(schema, [], (path) => found.set(path.join("."), path));
  return [...found.values()];
}

function walk(schema: z.core.$ZodType, path: IdPath, found: (path: IdPath) => void): void {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      for (const [key, part] of Object.entries(def.shape)) walk(part, [...path, key], found);
      return;
    case "array":
      walk(def.element, [...path, "*"], found);
      return;
    case "record":
      walk(def.valueType, [...path, "*"], found);
      return;
    case "union":
      for (const option of def.options) walk(option, path, found);
      return;
    case "pipe":
      walk(def.in, path, found);
      walk(def.out, path, found);
      return;
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
      walk(def.innerType, path, found);
      return;
    case "string": {
      const takes = (text: string): boolean => z.safeParse(schema, text).success;
      if (takes(AN_ID) && !takes(NO_ID) && !MADE_UP.has(path.at(-1) ?? "")) found(path);
      return;
    }
    default:
  }
}
