/** `manage_notes`: write, edit, undo and delete notes. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, at, elementFailure, id } from "../answers.ts";
import { crossField, elementsOf, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { BATCH_SIZE_MAX, EDITS_PER_TEXT_MAX } from "../limits.ts";
import { shownElsewhere } from "../listing-marks.ts";
import { bounded, facts, failureLine, oneLine } from "../rendering.ts";
import { editMarks, expectedVersion, noteBody, noteKey, noteRole, textEdit, writer } from "../text-fields.ts";

const element = z.strictObject({
  itemId: fields.itemRef,
  key: noteKey,
  role: noteRole.optional().describe("upsert: phase it belongs to."),
  body: noteBody,
  bodyFromFile: z.string().min(1).max(1_000).optional().describe("Instead of body."),
  edits: z
    .array(textEdit)
    .min(1)
    .max(EDITS_PER_TEXT_MAX)
    .optional()
    .describe("patch: in order, all or none."),
  version: z.int().min(1).optional().describe("undo: what this version changed."),
  expectedVersion: expectedVersion.optional().describe("Refuse if it changed; patch rebases."),
  fence: fields.fence.optional().describe("Of your claim."),
  actor: shownElsewhere(fields.actor, "Instead of the call's.").optional(),
});
type Element = z.output<typeof element>;

const OPERATIONS = ["upsert", "delete", "patch", "undo"] as const;
type Operation = (typeof OPERATIONS)[number];

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    notes: z.array(element).min(1).max(BATCH_SIZE_MAX).optional().describe("upsert, patch, undo."),
    ids: z.array(fields.fullId).min(1).max(BATCH_SIZE_MAX).optional().describe("delete: note ids; or"),
    itemId: fields.itemRef.optional().describe("delete: all notes of an item,"),
    key: noteKey.optional().describe("or one of them."),
    actor: shownElsewhere(fields.actor, "As in advance_item.").optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

type Call = Readonly<Record<string, unknown>>;

/** Fields of an element, and the operations that they say something to. */
const BELONGS: Readonly<Record<string, readonly Operation[]>> = {
  role: ["upsert"],
  body: ["upsert"],
  bodyFromFile: ["upsert"],
  edits: ["patch"],
  version: ["undo"],
};
const NEEDED: Readonly<Partial<Record<Operation, string>>> = {
  upsert: "role",
  patch: "edits",
  undo: "version",
};

function rules(call: Call, add: AddFault): void {
  const operation = OPERATIONS.find((one) => one === call.operation);
  if (operation === undefined) return; // The field's own message says so.
  if (operation === "delete") {
    deleteRules(call, add);
    return;
  }
  for (const name of ["ids", "itemId", "key"]) {
    if (call[name] !== undefined) add([name], `belongs to delete; for ${operation}, name the note in notes`);
  }
  if (call.notes === undefined) add(["notes"], `is needed: what to ${operation}`);
  for (const [index, one] of elementsOf(call.notes)) {
    const needed = NEEDED[operation];
    if (needed !== undefined && one[needed] === undefined)
      add(["notes", index, needed], `is needed for ${operation}`);
    for (const [name, operations] of Object.entries(BELONGS)) {
      if (one[name] !== undefined && !operations.includes(operation))
        add(
          ["notes", index, name],
          `does not go with ${operation}; it belongs to ${operations.join(" and ")}`,
        );
    }
    if (typeof one.body === "string" && one.bodyFromFile !== undefined)
      add(["notes", index, "bodyFromFile"], "cannot be combined with body; send one of them");
  }
}

function deleteRules(call: Call, add: AddFault): void {
  if (call.notes !== undefined)
    add(["notes"], "does not go with delete; pass ids, or itemId with or without key");
  if (call.ids !== undefined && call.itemId !== undefined)
    add(["ids"], "cannot be combined with itemId: it would not be clear what is to go; send one of them");
  if (call.ids === undefined && call.itemId === undefined)
    add(["ids"], "is needed: ids of notes, or itemId with or without key");
  if (call.key !== undefined && call.itemId === undefined) add(["itemId"], "is needed: whose note it is");
}

interface Place extends Pick<Element, "itemId" | "key" | "expectedVersion" | "fence" | "actor"> {}
export interface NoteUpsert extends Place {
  readonly role: z.output<typeof noteRole>;
  /** Where it is null, the body is in the file. */
  readonly body: string | null;
  readonly bodyFromFile: string | null;
}
export interface NotePatch extends Place {
  readonly edits: readonly z.output<typeof textEdit>[];
}
export interface NoteUndo extends Place {
  readonly version: number;
}

type Common = Pick<z.output<typeof shape>, "actor" | "workerId" | "requestId">;
export type UpsertNotes = Common & { readonly operation: "upsert"; readonly notes: NoteUpsert[] };
export type PatchNotes = Common & { readonly operation: "patch"; readonly notes: NotePatch[] };
export type UndoNotes = Common & { readonly operation: "undo"; readonly notes: NoteUndo[] };
export type DeleteNotes = Common & {
  readonly operation: "delete";
  readonly ids: string[];
  readonly itemId: string | null;
  readonly key: string | null;
};
/** A parsed call. What the rules above ask for is there. */
export type ManageNotesInput = UpsertNotes | PatchNotes | UndoNotes | DeleteNotes;
export type ManageNotesRequest = z.input<typeof shape>;

const input = shape.transform((call): ManageNotesInput => {
  const { operation, actor, workerId, requestId } = call;
  const common: Common = { actor, workerId, requestId };
  const notes = call.notes ?? [];
  switch (operation) {
    case "upsert":
      return {
        ...common,
        operation,
        notes: notes.map((one) => ({
          ...one,
          role: one.role ?? "queue", // Never absent, as above.
          body: one.bodyFromFile === undefined ? (one.body ?? "") : null,
          bodyFromFile: one.bodyFromFile ?? null,
        })),
      };
    case "patch":
      return { ...common, operation, notes: notes.map((one) => ({ ...one, edits: one.edits ?? [] })) };
    case "undo":
      return { ...common, operation, notes: notes.map((one) => ({ ...one, version: one.version ?? 1 })) };
    case "delete":
      return {
        ...common,
        operation,
        ids: call.ids ?? [],
        itemId: call.itemId ?? null,
        key: call.key ?? null,
      };
  }
});

const writtenNote = answer({
  id,
  itemId: id,
  key: z.string(),
  role: noteRole,
  version: z.int(),
  createdAt: at,
  modifiedAt: at,
  bodyLength: z.int(),
  warning: z.string().optional(),
  actor: writer.optional(),
  verification: z.record(z.string(), z.unknown()).optional(),
  ...editMarks,
  replayed: z.boolean().optional(),
});
export type WrittenNoteAnswer = z.output<typeof writtenNote>;

const failure = elementFailure.extend({ code: z.string() });
export type NoteFailure = z.output<typeof failure>;

/** What is left to write before the item can go on. */
const itemContext = answer({
  guidancePointer: z.string().nullable(),
  skillPointer: z.string().optional(),
  noteProgress: answer({ filled: z.int(), remaining: z.int(), total: z.int() }).nullable(),
});
export type ItemContext = z.output<typeof itemContext>;

const written = answer({
  notes: z.array(writtenNote),
  upserted: z.int().optional(),
  patched: z.int().optional(),
  undone: z.int().optional(),
  failed: z.int(),
  failures: z.array(failure).optional(),
  itemContext: z.record(z.string(), itemContext),
});
export type WriteNotesOutput = z.output<typeof written>;

const deletion = answer({
  id: id.optional(),
  itemId: id.optional(),
  key: z.string().optional(),
  outcome: z.enum(["deleted", "not_found", "failed"]),
  deleted: z.int(),
});
export type NoteDeletion = z.output<typeof deletion>;

const deleted = answer({
  deleted: z.int(),
  notFound: z.int(),
  failed: z.int(),
  results: z.array(deletion),
  failures: z.array(failure).optional(),
  replayed: z.boolean().optional(),
});
export type DeleteNotesOutput = z.output<typeof deleted>;

const output = z.union([written, deleted]);
export type ManageNotesOutput = z.output<typeof output>;

function render(result: ManageNotesOutput): string {
  const failed = (result.failures ?? []).map(failureLine);
  if ("deleted" in result) {
    return bounded([
      `deleted ${result.deleted}, not found ${result.notFound}, failed ${result.failed}`,
      ...failed,
      ...result.results.map((one) => facts({ ...one })),
    ]);
  }
  const { upserted, patched, undone } = result;
  return bounded([
    `${facts({ upserted, patched, undone })} failed=${result.failed}`,
    ...failed,
    ...result.notes.map((note) => {
      const { id: noteId, itemId, key, role, version, rebased, warning } = note;
      return `${noteId} ${facts({ itemId, key, role, version, rebased, warning })}`;
    }),
    ...Object.entries(result.itemContext).map(([itemId, one]) => contextLine(itemId, one)),
  ]);
}

function contextLine(itemId: string, { noteProgress, guidancePointer, skillPointer }: ItemContext): string {
  if (noteProgress === null) return "";
  const next = guidancePointer === null ? "" : ` Next: ${oneLine(guidancePointer, 300)}`;
  const skill = skillPointer === undefined ? "" : ` (skill ${skillPointer})`;
  return `${itemId}: ${noteProgress.filled} of ${noteProgress.total} required notes filled.${next}${skill}`;
}

export const manageNotes = defineOperation({
  name: "manage_notes",
  description:
    "Write notes on items: upsert by (itemId, key), patch by anchor, undo a version, delete. " +
    "Each element succeeds or fails by itself. Required notes open the gates of their role; " +
    "the answer says which is next.",
  input,
  output,
  annotations: writes("Manage notes", { destructive: true }),
  capability: "write-notes",
  toolsets: ["worker", "orchestrator"],
  mcp: true,
  render,
});
