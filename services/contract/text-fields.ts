/** Pieces of inputs and outputs that have to do with texts: notes, and the texts of items. */
import { z } from "zod";
import { answer, at } from "./answers.ts";
import * as limits from "./limits.ts";

export const noteKey = z.string().trim().min(1).max(limits.NOTE_KEY_LENGTH_MAX);
export const noteRole = z.enum(["queue", "work", "review"]);

/** null is what some clients send for nothing; it must never become the text "null". */
export const noteBody = z.string().nullable().optional();

const anchor = {
  old: z.string().max(limits.NOTE_BODY_SIZE_MAX_BYTES).describe("Must occur exactly once."),
  new: z.string().max(limits.NOTE_BODY_SIZE_MAX_BYTES),
  line: z.int().min(1).optional().describe("Nearest to it, if old occurs more often."),
};
export const textEdit = z.strictObject(anchor);

export const ITEM_TEXTS = ["description", "summary"] as const;
export type ItemText = (typeof ITEM_TEXTS)[number];
export const itemTextEdit = z.strictObject({ field: z.enum(ITEM_TEXTS).default("description"), ...anchor });

export const expectedVersion = z.int().min(1);

/** Who wrote something, as answers show it. */
export const writer = answer({
  id: z.string(),
  kind: z.string().optional(),
  parent: z.string().optional(),
});

/** A version of a text in its history, or one that landed before an edit by anchor. */
export const textVersion = answer({
  version: z.int(),
  at,
  actor: writer.optional(),
  bodyLength: z.int().optional(),
});
export type TextVersion = z.output<typeof textVersion>;

/** What an edit by anchor or an undo met. */
export const editMarks = {
  /** It was applied over a newer text than the caller knew. */
  rebased: z.boolean().optional(),
  intervening: z.array(textVersion).optional(),
};
