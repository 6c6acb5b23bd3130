/**
 * Creating items: all elements of a call in one transaction, a handful of statements
 * however many there are. An element that is refused gives its key back and disturbs no
 * other; one whose values the database does not take makes them go in one by one.
 *
 * The parents' rows are locked, so a parent that is just closing is seen closed, or sees
 * its new child; and whoever blocks an ancestor meanwhile meets the parent's lock.
 */
import { randomUUID } from "node:crypto";
import { keyText, saveAnswers, takeKeys } from "../../../db/stores/idempotency-store.ts";
import { findExisting, insertItems, type NewItemRow } from "../../../db/stores/item-write-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import type { CreateItems, CreateItemsOutput, NewItem } from "../../contract/operations/manage-items.ts";
import { blockersAbove, joinParent, judgePlacement } from "../../core/placement.ts";
import type { ItemSchema } from "../../core/schemas/item-schema.ts";
import type { WriterVerdict } from "../../core/writer.ts";
import type { World } from "../../core/world.ts";
import type { Schemas } from "../config/schema-source.ts";
import type { EngineDeps } from "../deps.ts";
import { replayOf } from "../idempotency.ts";
import { resolveItem } from "../resolve-items.ts";
import { askDoors, claimLost, withTenuresAbove } from "../writing/doors.ts";
import { elementFailure, failureOf, isUnstorable } from "../writing/element-failure.ts";
import { afterCommit, CLAIMABLE, lockWorld, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { recordFor, type WriteCall } from "../writing/write-call.ts";
import { createdFacts } from "./created-facts.ts";
import { toItemRow } from "./item-row.ts";
import { placementFault } from "./placement-fault.ts";
import { shareGraphs } from "./share-graphs.ts";
import { beyondScope, type Looker } from "../access.ts";

type CreatedItem = CreateItemsOutput["items"][number];

interface Slot {
  readonly index: number;
  readonly item: NewItem;
  readonly parentId: string | null;
}

type Outcome =
  | { readonly index: number; readonly created: CreatedItem; readonly availableTraits?: readonly string[] }
  | { readonly index: number; readonly failure: ElementFailure };

/** Whatever is neither made nor open for a child of its own. */
const NEW_CHILD = { role: "queue", outcome: null } as const;

export async function createItems(
  deps: EngineDeps,
  call: WriteCall,
  input: CreateItems,
  caller: Looker,
): Promise<CreateItemsOutput> {
  const outcomes: Outcome[] = [];
  const slots: Slot[] = [];
  for (const [index, item] of input.items.entries()) {
    const parent =
      typeof item.parentId === "string" ? await resolveItem(deps.db, item.parentId, caller) : null;
    const refused = parent === null ? beyondScope(caller.access.scope, "making a root") : null;
    const error = parent?.ok === false ? parent.error : refused;
    if (error !== null) outcomes.push({ index, failure: elementFailure(index, undefined, error) });
    else slots.push({ index, item, parentId: parent?.ok === true ? parent.id : null });
  }
  if (slots.length > 0) outcomes.push(...(await createTogether(deps, call, slots)));
  outcomes.sort((a, b) => a.index - b.index);
  const items = outcomes.flatMap((one) => ("created" in one ? [one.created] : []));
  const failures = outcomes.flatMap((one) => ("failure" in one ? [one.failure] : []));
  const traits = new Set(outcomes.flatMap((one) => ("created" in one ? (one.availableTraits ?? []) : [])));
  return {
    items,
    created: items.length,
    failed: failures.length,
    ...(failures.length === 0 ? {} : { failures }),
    ...(traits.size === 0 ? {} : { availableTraits: [...traits] }),
  };
}

async function createTogether(deps: EngineDeps, call: WriteCall, slots: readonly Slot[]): Promise<Outcome[]> {
  try {
    const { outcomes, world } = await transact(deps, (tx, wider) => createIn(deps, call, tx, wider, slots));
    afterCommit(deps, world);
    deps.coordination.wakeUps.publish([CLAIMABLE]);
    return outcomes;
  } catch (error) {
    const [only, ...others] = slots;
    if (only === undefined) return [];
    if (others.length === 0)
      return [{ index: only.index, failure: failureOf(deps, only.index, undefined, error) }];
    if (!isUnstorable(error)) throw error;
    const outcomes: Outcome[] = [];
    for (const slot of slots) outcomes.push(...(await createTogether(deps, call, [slot])));
    return outcomes;
  }
}

async function createIn(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  slots: readonly Slot[],
): Promise<{ outcomes: Outcome[]; world: World }> {
  const taken = await takeKeys(
    tx,
    slots.flatMap((slot) => recordFor(call, elementOf(slot)) ?? []),
  );
  const isFresh = (slot: Slot): boolean => {
    const record = recordFor(call, elementOf(slot));
    return record === null || taken.has(keyText(record));
  };
  const fresh = slots.filter(isFresh);
  const outcomes = await replayAll(
    call,
    tx,
    slots.filter((slot) => !isFresh(slot)),
  );
  const parents = [...new Set(fresh.flatMap((slot) => slot.parentId ?? []))];
  await shareGraphs(tx, parents);
  const world = await lockWorld(deps, tx, await withTenuresAbove(tx, call, parents), wider, "none");
  const known = parents.filter((id) => world.find(id) !== undefined);
  const verdicts = await askDoors(
    deps,
    tx,
    world,
    call,
    "open",
    known.map((itemId) => ({ itemId, fence: null })),
  );
  const doors = new Map(known.map((id, index) => [id, verdicts[index]]));
  const schemas = await deps.schemas.load(
    tx,
    known.map((id) => world.get(id).rootId),
  );
  const rows = new Map<Slot, Entered>();
  for (const slot of fresh) {
    const refusal = judge(world, slot, doors);
    if (refusal === null) rows.set(slot, enter(world, schemas, slot));
    else outcomes.push({ index: slot.index, failure: elementFailure(slot.index, undefined, refusal) });
  }
  await insertItems(
    tx,
    [...rows.values()].map(({ row }) => row),
    call.author,
  );
  await saveWorld(tx, world);
  for (const [slot, entered] of rows) {
    const { availableTraits } = entered.schema;
    outcomes.push({ index: slot.index, created: createdItem(entered), availableTraits });
  }
  await settleKeys(call, tx, fresh, rows);
  return { outcomes, world };
}

const elementOf = (slot: Slot): string => `c${slot.index}`;

function judge(
  world: World,
  slot: Slot,
  doors: ReadonlyMap<string, WriterVerdict | undefined>,
): MusterError | null {
  const { parentId } = slot;
  if (parentId === null) return null;
  const parent = world.find(parentId);
  if (!parent) return fault("RESOURCE_NOT_FOUND", `there is no item ${parentId} to be the parent`);
  if (doors.get(parentId)?.kind === "claim_lost") return claimLost(parentId);
  const refusal = judgePlacement(parent, { id: null, child: NEW_CHILD, height: 0, depthMax: TREE_DEPTH_MAX });
  return refusal === null ? null : placementFault(refusal, parentId);
}

interface Entered {
  readonly row: NewItemRow;
  readonly schema: ItemSchema;
}

/** Makes the row, and enters it in its parent's books. */
function enter(world: World, schemas: Schemas, slot: Slot): Entered {
  const id = randomUUID();
  const parent = slot.parentId === null ? null : world.get(slot.parentId);
  const { type, tags, traits } = slot.item;
  // A project that is just made has no configuration of its own yet.
  const rootId = parent?.rootId ?? null;
  const schema = schemas.of({ rootId, type: type ?? null, tags: tags ?? [], traits: traits ?? [] });
  const ancestors = parent === null ? [] : [...parent.ancestors, parent.id];
  const row = toItemRow(slot.item, { id, ancestors, ancestorBlockers: blockersAbove(parent) }, schema);
  if (parent !== null) joinParent(world, parent.id, NEW_CHILD);
  world.events.push({
    type: "item.created",
    itemId: id,
    rootId: row.root_id,
    data: { parentId: row.parent_id },
  });
  return { row, schema };
}

function createdItem({ row, schema }: Entered): CreatedItem {
  return {
    id: row.id,
    title: row.title,
    depth: row.ancestors.length,
    role: "queue",
    priority: row.priority,
    parentId: row.parent_id,
    rootId: row.root_id,
    version: 1,
    requiresVerification: row.requires_verification,
    tags: row.tags.length === 0 ? null : row.tags.join(","),
    ...createdFacts(schema),
  };
}

async function settleKeys(
  call: WriteCall,
  tx: Handle,
  fresh: readonly Slot[],
  rows: ReadonlyMap<Slot, Entered>,
): Promise<void> {
  const kept = fresh.flatMap((slot) => {
    const record = recordFor(call, elementOf(slot));
    const entered = rows.get(slot);
    return record === null || entered === undefined
      ? []
      : [{ ...record, answer: { ...createdItem(entered) }, targetId: entered.row.id }];
  });
  await saveAnswers(tx, kept);
  await call.audit?.noteIn(tx);
}

async function replayAll(call: WriteCall, tx: Handle, slots: readonly Slot[]): Promise<Outcome[]> {
  const stored: { index: number; answer: CreatedItem; targetId: string | null }[] = [];
  for (const slot of slots) {
    const record = recordFor(call, elementOf(slot));
    if (record === null) continue;
    const { answer, targetId } = await replayOf(tx, record);
    stored.push({ index: slot.index, answer: answer as CreatedItem, targetId });
  }
  const alive = await findExisting(
    tx,
    stored.flatMap((one) => one.targetId ?? []),
  );
  return stored.map(({ index, answer, targetId }) => {
    if (targetId !== null && alive.has(targetId)) return { index, created: { ...answer, replayed: true } };
    const gone = fault(
      "idempotency_target_gone",
      `the item that this requestId made, ${targetId}, was deleted since`,
    );
    return { index, failure: elementFailure(index, targetId ?? undefined, gone) };
  });
}
