/** `manage_items`: create, update, delete and restore items. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, at, csvText, elementFailure, expectedNote, id, priority, role } from "../answers.ts";
import { type AddFault, crossField, elementsOf, refuseMisplaced } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { itemEditMarks } from "../item-history.ts";
import { itemTextChanges, textRules } from "../item-text-changes.ts";
import { BATCH_SIZE_MAX } from "../limits.ts";
import { bounded, facts, failureLine, oneLine } from "../rendering.ts";

const { clearable } = fields;

/** One element for creating and updating; the rules below say which field belongs to which. */
const element = z.strictObject({
  itemId: fields.itemRef.optional().describe("update only."),
  title: fields.title.optional(),
  summary: fields.summary.optional(),
  description: clearable(fields.description),
  parentId: clearable(fields.itemRef).describe("null: make it a root."),
  priority: fields.priority.optional(),
  complexity: clearable(fields.complexity),
  tags: clearable(fields.tagCsv).describe("Comma-separated."),
  type: clearable(fields.itemType),
  traits: clearable(fields.nameCsv).describe('Comma-separated; replaces; "" clears.'),
  needs: clearable(fields.nameCsv).describe("Capabilities an agent must have; comma-separated."),
  assignee: clearable(fields.agentName).describe("Only this actor.id is offered it."),
  dueAt: clearable(fields.fullInstant),
  statusLabel: clearable(fields.statusLabel),
  metadata: clearable(fields.metadata),
  properties: clearable(fields.properties),
  requiresVerification: fields.flag.optional(),
  expectedVersion: z.int().min(1).optional().describe("update: refuse if it changed."),
  ...itemTextChanges,
  fence: fields.fence.optional().describe("update: of your claim."),
});
type Element = z.output<typeof element>;

const OPERATIONS = ["create", "update", "delete", "restore"] as const;

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    items: z
      .array(element)
      .min(1)
      .max(BATCH_SIZE_MAX)
      .optional()
      .describe("create, update; null clears a field."),
    itemIds: z
      .array(fields.fullId)
      .min(1)
      .max(BATCH_SIZE_MAX)
      .optional()
      .describe("delete, restore: full ids."),
    trashIds: z
      .array(fields.fullId)
      .min(1)
      .max(BATCH_SIZE_MAX)
      .optional()
      .describe("restore: as delete answered."),
    parentId: fields.itemRef.optional().describe("create: parent of all."),
    traits: fields.nameCsv.optional().describe("For all without their own."),
    recursive: fields.flag.default(false).describe("delete: with descendants."),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

type Call = Readonly<Record<string, unknown>>;

const BELONGS: Readonly<Record<string, readonly string[]>> = {
  items: ["create", "update"],
  itemIds: ["delete", "restore"],
  trashIds: ["restore"],
  parentId: ["create"],
  traits: ["create", "update"],
};

function rules(call: Call, add: AddFault): void {
  const operation = String(call.operation);
  if (!(OPERATIONS as readonly string[]).includes(operation)) return; // The field's own message says so.
  refuseMisplaced(call, operation, BELONGS, add);
  if (call.recursive === true && operation !== "delete") add(["recursive"], "belongs to delete only");
  if (operation === "delete" && call.itemIds === undefined)
    add(["itemIds"], "is needed: the full ids of what to delete");
  if (operation === "restore" && call.itemIds === undefined && call.trashIds === undefined) {
    add(["trashIds"], "is needed: the trashIds that delete answered, or the itemIds it removed");
  }
  if (operation !== "create" && operation !== "update") return;
  if (call.items === undefined) add(["items"], `is needed: what to ${operation}`);
  for (const [index, one] of elementsOf(call.items)) elementRules(operation, one, ["items", index], add);
}

function elementRules(
  operation: "create" | "update",
  one: Call,
  path: readonly (string | number)[],
  add: AddFault,
): void {
  if (operation === "update") {
    if (one.itemId === undefined) add([...path, "itemId"], "is needed: which item to update");
    textRules(one, path, add);
    return;
  }
  if (one.title === undefined) add([...path, "title"], "is needed to create an item");
  for (const name of ONLY_UPDATE) {
    if (one[name] !== undefined)
      add([...path, name], "belongs to update; a new item gets its id from the server");
  }
}

/** What says something about an item that is there already. */
const ONLY_UPDATE = ["itemId", "expectedVersion", "edits", "undo", "mergeProperties", "fence"] as const;

/** An item to create, with its defaults filled in. */
export interface NewItem extends Omit<
  Element,
  (typeof ONLY_UPDATE)[number] | "title" | "summary" | "priority"
> {
  readonly title: string;
  readonly summary: string;
  readonly priority: NonNullable<Element["priority"]>;
  readonly requiresVerification: boolean;
}

/** A change to an item: an absent field stays, null clears. */
export interface ItemChange extends Element {
  readonly itemId: string;
}

type Common = Pick<z.output<typeof shape>, "actor" | "workerId" | "requestId">;
export type CreateItems = Common & { readonly operation: "create"; readonly items: NewItem[] };
export type UpdateItems = Common & { readonly operation: "update"; readonly items: ItemChange[] };
export type DeleteItems = Common & {
  readonly operation: "delete";
  readonly itemIds: string[];
  readonly recursive: boolean;
};
export type RestoreItems = Common & {
  readonly operation: "restore";
  readonly itemIds: string[];
  readonly trashIds: string[];
};
/** A parsed call. Shared defaults (`parentId`, `traits`) are already in the elements. */
export type ManageItemsInput = CreateItems | UpdateItems | DeleteItems | RestoreItems;

const input = shape.transform((call): ManageItemsInput => {
  const { operation, actor, workerId, requestId } = call;
  const common: Common = { actor, workerId, requestId };
  const items = call.items ?? [];
  if (operation === "create") {
    return { ...common, operation, items: items.map((one) => newItem(one, call.parentId, call.traits)) };
  }
  if (operation === "update") {
    return { ...common, operation, items: items.map((one) => itemChange(one, call.traits)) };
  }
  const itemIds = call.itemIds ?? [];
  if (operation === "delete") return { ...common, operation, itemIds, recursive: call.recursive };
  return { ...common, operation, itemIds, trashIds: call.trashIds ?? [] };
});
export type ManageItemsRequest = z.input<typeof shape>;

function newItem(one: Element, parentId: string | undefined, traits: string[] | undefined): NewItem {
  return {
    ...one,
    title: one.title ?? "", // Never empty: the rules above refuse a creation without title.
    summary: one.summary ?? "",
    priority: one.priority ?? "medium",
    requiresVerification: one.requiresVerification ?? false,
    parentId: one.parentId === undefined ? parentId : one.parentId,
    traits: one.traits === undefined ? traits : one.traits,
  };
}

function itemChange(one: Element, traits: string[] | undefined): ItemChange {
  const change = { ...one, itemId: one.itemId ?? "" }; // Never empty, as above.
  return one.traits === undefined && traits !== undefined ? { ...change, traits } : change;
}

const failures = z.array(elementFailure).optional();
const replayed = z.boolean().optional();

const created = answer({
  items: z.array(
    answer({
      id,
      title: z.string(),
      depth: z.int(),
      role,
      priority,
      parentId: id.nullable().optional(),
      rootId: id.optional(),
      version: z.int(),
      requiresVerification: z.boolean(),
      tags: csvText,
      schemaMatch: z.boolean(),
      expectedNotes: z.array(expectedNote),
      replayed,
    }),
  ),
  created: z.int(),
  failed: z.int(),
  failures,
  /** Left out where no traits are configured. */
  availableTraits: z.array(z.string()).optional(),
});
const updated = answer({
  items: z.array(
    answer({
      id,
      modifiedAt: at,
      version: z.int(),
      requiresVerification: z.boolean(),
      ...itemEditMarks,
      replayed,
    }),
  ),
  updated: z.int(),
  failed: z.int(),
  failures,
});
const deleted = answer({
  ids: z.array(id),
  deleted: z.int(),
  failed: z.int(),
  failures,
  descendantsDeleted: z.int().optional(),
  trash: z.array(answer({ itemId: id, trashId: id, restorableUntil: at.optional() })).optional(),
  freedItems: z.array(answer({ itemId: id, title: z.string() })).optional(),
  replayed,
});
export const restored = answer({
  ids: z.array(id),
  restored: z.int(),
  failed: z.int(),
  failures,
  droppedDependencies: z.int().optional(),
  replayed,
});

const output = z.union([created, updated, deleted, restored]);
export type CreateItemsOutput = z.output<typeof created>;
export type UpdateItemsOutput = z.output<typeof updated>;
export type DeleteItemsOutput = z.output<typeof deleted>;
export type RestoreItemsOutput = z.output<typeof restored>;
export type ManageItemsOutput = z.output<typeof output>;

function render(result: ManageItemsOutput): string {
  const failed = (result.failures ?? []).map(failureLine);
  if ("created" in result) {
    const lines = result.items.map(
      (item) => `${item.id} [${item.role}/${item.priority}] ${oneLine(item.title, 120)}`,
    );
    return bounded([`created ${result.created}, failed ${result.failed}`, ...failed, ...lines]);
  }
  if ("updated" in result) {
    const lines = result.items.map(
      ({ id: itemId, version, rebased }) => `${itemId} ${facts({ version, rebased })}`,
    );
    return bounded([`updated ${result.updated}, failed ${result.failed}`, ...failed, ...lines]);
  }
  if ("deleted" in result) {
    return bounded([
      `deleted ${result.deleted}, failed ${result.failed}`,
      ...failed,
      ...(result.trash ?? []).map(
        (entry) => `${entry.itemId} is in the trash; undo with restore trashIds ["${entry.trashId}"]`,
      ),
      ...(result.freedItems ?? []).map(
        (item) => `no longer blocked by it: ${item.itemId} ${oneLine(item.title, 80)}`,
      ),
    ]);
  }
  return bounded([`restored ${result.restored}, failed ${result.failed}`, ...failed, ...result.ids]);
}

export const manageItems = defineOperation({
  name: "manage_items",
  description:
    "Create, update, delete or restore work items; each element succeeds or fails by itself. " +
    "New items start in role queue; roles change only through advance_item. Nest with parentId. " +
    "update: absent fields stay, null clears. delete needs full ids and can be undone with restore.",
  input,
  output,
  annotations: writes("Manage items", { destructive: true }),
  capability: "write-items",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
