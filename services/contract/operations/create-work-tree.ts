/** `create_work_tree`: a whole plan at once, or nothing of it. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, csvText, expectedNote, id, priority, role } from "../answers.ts";
import { crossField, elementsOf, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import { documentHead, documentSlug } from "../documents.ts";
import * as fields from "../fields.ts";
import * as limits from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";
import { noteBody, noteKey, noteRole } from "../text-fields.ts";
import { DEPENDENCY_TYPES, ON_CANCELLED, THRESHOLDS } from "../vocabulary.ts";
import { judgeTree, ROOT_REF } from "../../core/trees/tree-shape.ts";
import type { NewItem } from "./manage-items.ts";

const ref = z.string().trim().min(1).max(limits.TREE_REF_LENGTH_MAX);
const noteAnchor = z.strictObject({ noteKey, role: noteRole, anchor: z.string().trim().min(1).max(500) });

const itemShape = {
  priority: fields.priority.optional(),
  complexity: fields.complexity.nullish(),
  tags: fields.tagCsv.nullish(),
  type: fields.itemType.nullish(),
  traits: fields.nameCsv.nullish(),
  summary: fields.summary.optional(),
  description: fields.description.nullish(),
  needs: fields.nameCsv.nullish(),
  assignee: z.string().trim().min(1).max(limits.ACTOR_ID_LENGTH_MAX).nullish(),
  statusLabel: fields.statusLabel.nullish(),
  metadata: fields.metadata.nullish(),
  properties: fields.properties.nullish(),
  requiresVerification: fields.flag.optional(),
  noteAnchors: z.array(noteAnchor).max(limits.TREE_ANCHORS_PER_ITEM_MAX).optional(),
};

const root = z.strictObject({
  id: fields.itemRef.optional().describe("Attach below this item."),
  title: fields.title.optional(),
  ...itemShape,
});
const child = z.strictObject({
  ref,
  title: fields.title,
  parentRef: ref.default(ROOT_REF),
  ...itemShape,
});
const edge = z.strictObject({
  from: ref,
  to: ref,
  type: z.enum(DEPENDENCY_TYPES).default("BLOCKS"),
  unblockAt: z.enum(THRESHOLDS).optional(),
  onCancelled: z.enum(ON_CANCELLED).optional(),
});
const note = z.strictObject({ itemRef: ref, key: noteKey, role: noteRole, body: noteBody });

const shape = z
  .strictObject({
    root: root.describe("A new item (title), or one that is there (id)."),
    parentId: fields.itemRef.optional().describe("Above a new root."),
    children: z
      .array(child)
      .max(limits.TREE_ITEMS_MAX - 1)
      .default([])
      .describe("ref: your name for it; parentRef: another's ref, default root."),
    deps: z.array(edge).max(limits.TREE_DEPENDENCIES_MAX).default([]).describe("Between refs."),
    createNotes: fields.flag.default(false).describe("Blank notes as the schemas expect."),
    notes: z.array(note).max(limits.TREE_NOTES_MAX).default([]),
    docRef: z
      .strictObject({ rootId: fields.itemRef.optional(), slug: documentSlug })
      .optional()
      .describe("Plan that noteAnchors (heading slugs) take note bodies from; adopted."),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

type Call = Readonly<Record<string, unknown>>;

function rules(call: Call, add: AddFault): void {
  const top = isObject(call.root) ? call.root : {};
  rootRules(call, top, add);
  const children = elementsOf(call.children);
  const refs = new Set([ROOT_REF, ...children.map(([, one]) => refOf(one.ref))]);
  noteRules(call, refs, add);
  if (isObject(call.docRef) && call.docRef.rootId === undefined && !isBelowSomething(call, top))
    add(["docRef", "rootId"], "is needed: a new root has no plans yet");
  if (call.docRef === undefined) {
    const asked = [
      [["root"], top],
      ...children.map(([index, one]) => [["children", index], one] as const),
    ] as const;
    for (const [path, one] of asked)
      if (Array.isArray(one.noteAnchors) && one.noteAnchors.length > 0)
        add([...path, "noteAnchors"], "needs docRef: the plan to take the text from");
  }
  shapeRules(call, add);
}

function isBelowSomething(call: Call, top: Call): boolean {
  return top.id !== undefined || call.parentId !== undefined;
}

const ATTACHED_FIELDS = ["id", "title", "noteAnchors"];

function rootRules(call: Call, top: Call, add: AddFault): void {
  if (top.id === undefined) {
    if (isObject(call.root) && top.title === undefined)
      add(["root", "title"], "is needed for a new root; or id, to attach to an item");
    return;
  }
  if (call.parentId !== undefined)
    add(["parentId"], "goes with a new root only; the one that root.id names has its place");
  for (const name of Object.keys(itemShape)) {
    if (top[name] !== undefined && !ATTACHED_FIELDS.includes(name))
      add(["root", name], "does not go with id: an item that is there is changed with manage_items");
  }
}

function noteRules(call: Call, refs: ReadonlySet<string>, add: AddFault): void {
  const places = new Map<string, number>();
  for (const [index, one] of elementsOf(call.notes)) {
    const itemRef = refOf(one.itemRef);
    if (!refs.has(itemRef)) add(["notes", index, "itemRef"], `no child has the ref "${itemRef}"`);
    const place = JSON.stringify([itemRef, refOf(one.key)]);
    const first = places.get(place);
    if (first !== undefined) add(["notes", index], `has the same item and key as notes[${first}]`);
    else places.set(place, index);
  }
}

function shapeRules(call: Call, add: AddFault): void {
  const children = elementsOf(call.children).map(([, one]) => ({
    ref: refOf(one.ref),
    parentRef: one.parentRef === undefined ? ROOT_REF : refOf(one.parentRef),
  }));
  const edges = elementsOf(call.deps).map(([, one]) => toTreeEdge(one));
  if (children.length >= limits.TREE_ITEMS_MAX || edges.length > limits.TREE_DEPENDENCIES_MAX) return;
  const depth = { depthMax: limits.TREE_DEPTH_MAX, edgesMax: limits.DEPENDENCIES_PER_ITEM_MAX };
  for (const { list, index, field, message } of judgeTree(children, edges, depth))
    add(field === null ? [list, index] : [list, index, field], message);
}

/** "is blocked by" is the same edge with its ends swapped. */
function toTreeEdge(one: Call): { from: string; to: string; blocks: boolean } {
  const type = typeof one.type === "string" ? one.type.toUpperCase() : "BLOCKS";
  const [from, to] = [refOf(one.from), refOf(one.to)];
  const swapped = type === "IS_BLOCKED_BY";
  return { from: swapped ? to : from, to: swapped ? from : to, blocks: type !== "RELATES_TO" };
}

function refOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function isObject(value: unknown): value is Call {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Shape = z.output<typeof shape>;
export type NoteAnchor = z.output<typeof noteAnchor>;

export interface TreeItem {
  readonly ref: string;
  readonly parentRef: string;
  readonly item: NewItem;
  readonly noteAnchors: readonly NoteAnchor[];
}
export type TreeDependency = Shape["deps"][number];
export type TreeNote = Shape["notes"][number];

/** A parsed call. */
export interface CreateWorkTreeInput extends Pick<
  Shape,
  "deps" | "createNotes" | "notes" | "docRef" | "actor" | "workerId" | "requestId"
> {
  /** The item to attach to; null: the root is made. */
  readonly attachTo: string | null;
  readonly parentId: string | null;
  /** What the root is to be; null where it is there. */
  readonly root: NewItem | null;
  readonly rootAnchors: readonly NoteAnchor[];
  readonly children: readonly TreeItem[];
}
export type CreateWorkTreeRequest = z.input<typeof shape>;

const input = shape.transform((call): CreateWorkTreeInput => {
  const { deps, createNotes, notes, docRef, actor, workerId, requestId } = call;
  const { id: attachTo = null, noteAnchors: rootAnchors = [], ...top } = call.root;
  return {
    deps,
    createNotes,
    notes,
    docRef,
    actor,
    workerId,
    requestId,
    attachTo,
    parentId: call.parentId ?? null,
    root: attachTo === null ? newItem({ ...top, title: top.title ?? "" }) : null, // Never empty: see the rules.
    rootAnchors,
    children: call.children.map(({ ref: name, parentRef, noteAnchors = [], ...item }) => ({
      ref: name,
      parentRef,
      item: newItem(item),
      noteAnchors,
    })),
  };
});

function newItem(one: Omit<z.output<typeof child>, "ref" | "parentRef" | "noteAnchors">): NewItem {
  return {
    ...one,
    summary: one.summary ?? "",
    priority: one.priority ?? "medium",
    requiresVerification: one.requiresVerification ?? false,
  };
}

const itemFacts = {
  title: z.string().optional(),
  role: role.optional(),
  depth: z.int(),
  parentId: id.nullable().optional(),
  priority: priority.optional(),
  tags: csvText,
  type: z.string().optional(),
  schemaMatch: z.boolean().optional(),
  expectedNotes: z.array(expectedNote).optional(),
};
const output = answer({
  root: answer({ id, attached: z.boolean().optional(), ...itemFacts, title: z.string() }),
  /** Of a large tree only refs, ids and depths; `omitted` of them are left out as well. */
  children: z.array(answer({ ref: z.string(), id, ...itemFacts })),
  dependencies: z.array(
    answer({
      id,
      fromRef: z.string(),
      toRef: z.string(),
      type: z.enum(["BLOCKS", "RELATES_TO"]),
      unblockAt: z.enum(THRESHOLDS).optional(),
    }),
  ),
  notes: z.array(answer({ id, itemRef: z.string(), key: z.string(), role: noteRole })),
  created: answer({ items: z.int(), dependencies: z.int(), notes: z.int() }),
  /** What is too long for one answer and can be read with query_items, query_notes, query_dependencies. */
  omitted: answer({ children: z.int(), dependencies: z.int(), notes: z.int() }).optional(),
  adoptedDocument: documentHead.optional(),
  warnings: z.array(z.string()).optional(),
  replayed: z.boolean().optional(),
});
export type CreateWorkTreeOutput = z.output<typeof output>;

function render(result: CreateWorkTreeOutput): string {
  const { root: top, created, omitted, adoptedDocument } = result;
  return bounded([
    `${top.attached === true ? "attached to" : "created"} ${top.id} ${oneLine(top.title, 120)} ${facts({ ...created })}`,
    adoptedDocument === undefined ? "" : `adopted ${adoptedDocument.slug}`,
    ...(result.warnings ?? []).map((one) => `warning: ${one}`),
    ...result.children.map((one) => `${one.ref} = ${one.id} ${oneLine(one.title ?? "", 80)}`.trim()),
    omitted === undefined ? "" : `left out: ${facts({ ...omitted })}; query_items with parentId lists them`,
  ]);
}

export const createWorkTree = defineOperation({
  name: "create_work_tree",
  description:
    "Create a tree of items with dependencies and notes in one call, all or nothing; or attach one below an item. " +
    "Fields of items are those of manage_items.",
  input,
  output,
  annotations: writes("Create work tree", { destructive: false }),
  capability: "write-items",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
