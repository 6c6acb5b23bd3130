/** Marks that keep the tool list small. They change what clients are shown, never what is accepted. */
import type { z } from "zod";

/** The metadata keys that `json-schema.ts` looks for. */
export const SHOWN_ELSEWHERE = "shownElsewhere";
export const UNLISTED = "unlisted";

/**
 * Lists an object without its fields where the same toolset shows them in full already.
 * The description must say where.
 */
export function shownElsewhere<S extends z.ZodType>(schema: S, description: string): S {
  return schema.meta({ [SHOWN_ELSEWHERE]: true, description });
}

/** Accepts a field without telling: for what other clients are used to send and Muster has no use for. */
export function unlisted<S extends z.ZodType>(schema: S): S {
  return schema.meta({ [UNLISTED]: true });
}
