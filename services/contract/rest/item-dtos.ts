/** Items as REST shows and takes them. */
import { z } from "zod";
import { answer, at, expectedNote, id, priority, role } from "../answers.ts";
import * as fields from "../fields.ts";
import { REASON_LENGTH_MAX } from "../limits.ts";
import { noteBody, noteKey, noteRole } from "../text-fields.ts";
import { FAILURE_CLASSES, TRIGGERS } from "../vocabulary.ts";
import { dependenciesDto, noteDto } from "./note-dtos.ts";

const properties = z.record(z.string(), z.unknown());

const itemShape = {
  id,
  parentId: id.optional(),
  rootId: id.optional(),
  title: z.string(),
  description: z.string().optional(),
  summary: z.string(),
  type: z.string().optional(),
  role,
  previousRole: role.optional(),
  statusLabel: z.string().optional(),
  priority,
  complexity: z.int().optional(),
  requiresVerification: z.boolean(),
  tags: z.array(z.string()),
  properties,
  createdAt: at,
  modifiedAt: at,
  roleChangedAt: at,
  etag: z.string(),
  depth: z.int(),
  isClaimed: z.boolean(),
  version: z.int(),
  outcome: z.string().optional(),
  traits: z.array(z.string()),
  needs: z.array(z.string()),
  assignee: z.string().optional(),
  metadata: z.string().optional(),
  attempts: z.int(),
  dead: z.boolean(),
  availableAt: at.optional(),
  /** Fields of which only the beginning is there. */
  clipped: z.array(z.string()).optional(),
};

export const itemDto = answer(itemShape);
export type ItemDto = z.output<typeof itemDto>;

/** With what was asked for by `include`. */
export const itemDetailDto = answer({
  ...itemShape,
  notes: z.array(noteDto).optional(),
  children: z.array(itemDto).optional(),
  dependencies: dependenciesDto.optional(),
  /** Parts of which only the beginning is there; each has an address of its own. */
  truncated: z.array(z.string()).optional(),
});

export const INCLUDES = ["notes", "children", "deps", "proof"] as const;

const tagList = z.array(z.string().max(200)).max(200);
/** Texts that are parsed by the operation, which says what is wrong with them. */
const text = z.string();

export const itemCreateDto = z.strictObject({
  title: text,
  description: text.optional(),
  summary: text.optional(),
  parentId: text.optional(),
  type: text.optional(),
  priority: text.optional(),
  complexity: z.int().optional(),
  requiresVerification: z.boolean().optional(),
  tags: tagList.optional(),
  statusLabel: text.optional(),
  properties: properties.optional(),
  metadata: text.optional(),
  traits: tagList.optional(),
  needs: tagList.optional(),
  assignee: text.optional(),
});

const clearable = text.nullable().optional();

/** A merge patch (RFC 7396): what is absent stays, null clears. */
export const itemPatchDto = z.looseObject({
  title: text.optional(),
  description: clearable,
  summary: clearable,
  statusLabel: clearable,
  priority: text.optional(),
  complexity: z.int().nullable().optional(),
  requiresVerification: z.boolean().optional(),
  tags: clearable.describe("Comma-separated."),
  type: clearable,
  properties: properties.nullable().optional().describe("Merged at every depth; null removes a key."),
  metadata: clearable,
  parentId: clearable.describe("null: make it a root."),
  traits: clearable.describe("Comma-separated."),
  needs: clearable.describe("Comma-separated."),
  assignee: clearable,
  fence: z.int().optional().describe("Of your claim."),
});

export const advanceDto = z.strictObject({
  trigger: z.string().describe(`${TRIGGERS.join(", ")}.`),
  credentialRefs: z.array(z.string()).optional(),
  overrideResourceLeases: z
    .boolean()
    .optional()
    .describe("For administrators, with a reason: takes the resources away from whoever has them."),
  override: z
    .boolean()
    .optional()
    .describe("For operators, with a reason: also of what somebody else holds."),
  reason: z.string().max(REASON_LENGTH_MAX).optional(),
  summary: fields.summary.optional(),
  label: text.optional(),
  class: z.enum(FAILURE_CLASSES).optional(),
  fence: fields.fence.optional(),
  workerId: fields.workerId.optional(),
  notes: z.array(z.strictObject({ key: noteKey, role: noteRole, body: noteBody })).optional(),
});

export const cascadeDto = answer({
  itemId: id,
  title: z.string(),
  previousRole: role,
  targetRole: role,
  applied: z.boolean(),
  statusLabel: z.string().optional(),
  gateBlocked: z.boolean(),
  missingNotes: z.array(z.record(z.string(), z.unknown())).optional(),
  resourceBlocked: z.boolean().optional(),
});

export const advancedDto = answer({
  itemId: id,
  previousRole: role,
  newRole: role,
  trigger: z.string(),
  statusLabel: z.string().optional(),
  cascadeEvents: z.array(cascadeDto),
  unblockedItems: z.array(answer({ itemId: id, title: z.string() })),
  expectedNotes: z.array(expectedNote),
});
