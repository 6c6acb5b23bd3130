/** How an update changes the texts of an item other than by sending them whole. */
import { z } from "zod";
import { elementsOf, type AddFault } from "./cross-field.ts";
import * as fields from "./fields.ts";
import { EDITS_PER_TEXT_MAX } from "./limits.ts";
import { itemTextEdit } from "./text-fields.ts";

export const itemTextChanges = {
  edits: z
    .array(itemTextEdit)
    .min(1)
    .max(EDITS_PER_TEXT_MAX)
    .optional()
    .describe("update: texts by anchor, all or none; rebases."),
  undo: z.int().min(1).optional().describe("update: take back what this version changed in texts."),
  mergeProperties: fields.properties.optional().describe("update: key by key, at every depth; null removes."),
};

/** Two ways to say what one text is to be are one too many. */
export function textRules(
  one: Readonly<Record<string, unknown>>,
  path: readonly (string | number)[],
  add: AddFault,
): void {
  for (const [index, edit] of elementsOf(one.edits)) {
    const field = typeof edit.field === "string" ? edit.field : "description";
    if (one[field] !== undefined)
      add([...path, "edits", index], `edits the ${field} that is also sent whole; send one of them`);
  }
  if (one.properties !== undefined && one.mergeProperties !== undefined)
    add([...path, "mergeProperties"], "cannot be combined with properties; send one of them");
  if (one.undo === undefined) return;
  for (const name of ["edits", "title", "summary", "description"]) {
    if (one[name] !== undefined) add([...path, "undo"], `cannot be combined with ${name}; send one of them`);
  }
}
