/** Notes, moves and edges as REST shows and takes them. */
import { z } from "zod";
import { answer, at, id } from "../answers.ts";
import * as fields from "../fields.ts";
import { transitionShape } from "../operations/list-transitions.ts";
import { noteBody, noteRole, writer } from "../text-fields.ts";
import { DEPENDENCY_TYPES, ON_CANCELLED, THRESHOLDS } from "../vocabulary.ts";

/** Who did it; for administrators and operators only. */
const attributed = {
  actor: writer.optional(),
  verification: z.record(z.string(), z.unknown()).optional(),
};

export const noteDto = answer({
  key: z.string(),
  role: noteRole,
  body: z.string(),
  createdAt: at,
  modifiedAt: at,
  etag: z.string(),
  id,
  version: z.int(),
  warning: z.string().optional(),
  ...attributed,
});
export type NoteDto = z.output<typeof noteDto>;

export const noteWriteDto = z.strictObject({
  role: noteRole,
  body: noteBody,
  /** Taken since clients of the original may send it; notes have none. */
  properties: z.record(z.string(), z.unknown()).optional(),
  fence: fields.fence.optional(),
  workerId: fields.workerId.optional(),
});

export const transitionDto = answer({ ...transitionShape, ...attributed });

export const edgeDto = answer({
  id,
  fromItemId: id,
  toItemId: id,
  type: z.enum(DEPENDENCY_TYPES),
  unblockAt: z.enum(THRESHOLDS).nullable().optional(),
  onCancelled: z.enum(ON_CANCELLED).optional(),
  createdAt: at.optional(),
  satisfied: z.boolean().optional(),
});
export type EdgeDto = z.output<typeof edgeDto>;

export const dependenciesDto = answer({
  blocks: z.array(edgeDto),
  blockedBy: z.array(edgeDto),
  related: z.array(edgeDto),
  /** There are more edges than are shown. */
  truncated: z.boolean().optional(),
});

export const edgeCreateDto = z.strictObject({
  fromItemId: fields.itemRef,
  toItemId: fields.itemRef,
  type: z.string().default("BLOCKS").describe("blocks or relates_to."),
  unblockAt: z.enum(THRESHOLDS).optional(),
  onCancelled: z.enum(ON_CANCELLED).optional(),
});

export const backlinkDto = answer({
  fromItemId: id,
  fromTitle: z.string(),
  type: z.enum(DEPENDENCY_TYPES),
  id,
  fromRole: z.string(),
});

export const searchHitDto = answer({
  itemId: id,
  field: z.string(),
  snippet: z.string().optional(),
  score: z.number(),
  noteKey: z.string().optional(),
  title: z.string(),
  role: z.string(),
});
