/**
 * Updating items: each element by itself. Only the columns that were given are written,
 * so two edits of different fields both stay; `expectedVersion` asks for more. Planners
 * may edit what somebody else holds; only a displaced holder's late edit is refused.
 */
import {
  findSubtree,
  findVersion,
  type ItemPatch,
  type UpdatedItem,
  updateItem,
} from "../../../db/stores/item-write-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import { recordAudit } from "../../../db/stores/audit-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { fault } from "../../contract/errors.ts";
import type { ItemChange, UpdateItems, UpdateItemsOutput } from "../../contract/operations/manage-items.ts";
import type { CascadeEvent } from "../../core/cascade.ts";
import type { World } from "../../core/world.ts";
import type { GraphScope } from "../dependencies/order-graph.ts";
import { refreshCopies } from "../config/refresh-copies.ts";
import type { EngineDeps } from "../deps.ts";
import { requireItem } from "../resolve-items.ts";
import { askDoors, claimLost, withTenuresAbove } from "../writing/doors.ts";
import { failureOf } from "../writing/element-failure.ts";
import { afterCommit, CLAIMABLE, lockWorld, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { once, type Done, type WriteCall } from "../writing/write-call.ts";
import { nameCascades } from "./cascade-events.ts";
import { decideTexts, keepTexts } from "./item-texts.ts";
import { lockForMove, moveItemUnder } from "./move-item.ts";
import { type Looker, requireWholeSight } from "../access.ts";

type UpdatedAnswer = UpdateItemsOutput["items"][number];

/** What decides who is offered an item: a claim that waits may want it now. */
const OFFERING_FIELDS = ["needs", "assignee", "tags", "type", "traits", "priority", "complexity", "parentId"];
/** Fields of an element that say which item, and when, but nothing about it. */
const NOT_CHANGES = new Set(["itemId", "expectedVersion", "fence"]);

export async function updateItems(
  deps: EngineDeps,
  call: WriteCall,
  input: UpdateItems,
  caller: Looker,
): Promise<UpdateItemsOutput> {
  const items: UpdatedAnswer[] = [];
  const failures: ElementFailure[] = [];
  for (const [index, change] of input.items.entries()) {
    try {
      items.push(await updateOne(deps, call, change, index, caller));
    } catch (error) {
      failures.push(failureOf(deps, index, change.itemId, error));
    }
  }
  return {
    items,
    updated: items.length,
    failed: failures.length,
    ...(failures.length === 0 ? {} : { failures }),
  };
}

/** The item, and where it is to hang if it is to be moved. */
interface Target {
  readonly id: string;
  readonly parentId: string | null | undefined;
}

async function updateOne(
  deps: EngineDeps,
  call: WriteCall,
  change: ItemChange,
  index: number,
  caller: Looker,
): Promise<UpdatedAnswer> {
  const fields = givenFields(change);
  if (fields.length === 0) {
    throw fault("validation_failed", "nothing to change: the element names an item and no field of it");
  }
  const { parentId } = change;
  if (parentId === null) requireWholeSight(caller, "moving an item to the top");
  const target: Target = {
    id: await requireItem(deps.db, change.itemId, caller),
    parentId: typeof parentId === "string" ? await requireItem(deps.db, parentId, caller) : parentId,
  };
  const scope: GraphScope = new Set();
  let world: World | null = null;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    return await once(call, tx, `u${index}`, async () => {
      const done = await updateIn(deps, call, tx, wider, target, change, scope);
      world = done.world;
      return done;
    });
  });
  if (result.replayed) {
    await refuseIfGone(deps, result.targetId);
    return { ...result.answer, replayed: true };
  }
  if (world !== null) afterCommit(deps, world);
  if (fields.some((field) => OFFERING_FIELDS.includes(field))) deps.coordination.wakeUps.publish([CLAIMABLE]);
  return result.answer;
}

function givenFields(change: ItemChange): string[] {
  return Object.entries(change)
    .filter(([field, value]) => value !== undefined && !NOT_CHANGES.has(field))
    .map(([field]) => field);
}

async function refuseIfGone(deps: EngineDeps, targetId: string | null): Promise<void> {
  if (targetId === null || (await findTitles(deps.db, [targetId])).size > 0) return;
  throw fault(
    "idempotency_target_gone",
    `the item that this requestId updated, ${targetId}, was deleted since`,
  );
}

/** What decides which schema an item has. */
const SCHEMA_FIELDS = ["type", "tags", "traits"] as const;

async function updateIn(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  target: Target,
  change: ItemChange,
  scope: GraphScope,
): Promise<Done<UpdatedAnswer> & { world: World }> {
  const { id, parentId } = target;
  const moving =
    parentId === undefined ? null : await lockForMove(deps, call, tx, wider, id, parentId, scope);
  const world =
    moving?.world ?? (await lockWorld(deps, tx, await withTenuresAbove(tx, call, [id]), wider, "none"));
  const item = world.find(id);
  if (!item) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  // Hanging something below an item is a write to that item as well.
  const below = typeof parentId === "string" && world.find(parentId) !== undefined ? [parentId] : [];
  const asked = [
    { itemId: id, fence: change.fence ?? null },
    ...below.map((itemId) => ({ itemId, fence: null })),
  ];
  const verdicts = await askDoors(deps, tx, world, call, "open", asked);
  const lost = asked.find((_, position) => verdicts[position]?.kind === "claim_lost");
  if (lost !== undefined) throw claimLost(lost.itemId);
  const texts = touchesTexts(change) ? await decideTexts(tx, id, change, textsOf(change)) : null;
  if (texts === null) await refuseOtherVersion(tx, id, change.expectedVersion);
  const rootBefore = item.rootId;
  const cascades = moving === null ? [] : await moveItemUnder(tx, call, moving);
  if (change.statusLabel !== undefined) world.update(id, { statusLabel: change.statusLabel });
  const updated = await updateItem(tx, id, { ...patchOf(change), ...texts?.patch }, call.author);
  if (updated === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  if (texts !== null) await keepTexts(tx, id, texts, updated.version, call.author);
  const written = {
    itemId: id,
    rootId: world.get(id).rootId,
    data: { version: updated.version, fields: givenFields(change) },
  };
  world.events.push({ type: "item.updated", ...written });
  await recordAudit(tx, [{ action: "item.updated", ...written }], call.author);
  await saveWorld(tx, world);
  const resettled = world.get(id).rootId !== rootBefore;
  if (resettled || SCHEMA_FIELDS.some((field) => change[field] !== undefined))
    await refreshCopies(tx, deps.schemas, resettled ? await findSubtree(tx, id) : [id]);
  const answer = { ...(await toAnswer(tx, id, updated, cascades)), ...texts?.marks };
  return { answer, targetId: id, world };
}

async function refuseOtherVersion(tx: Handle, id: string, expected: number | undefined): Promise<void> {
  if (expected === undefined) return;
  const actual = await findVersion(tx, id);
  if (actual === null || actual === expected) return;
  throw fault("version_conflict", `the item is at version ${actual}, not at the expected ${expected}`, {
    details: { expected, actual },
  });
}

const TEXT_CHANGES = ["title", "summary", "description", "edits", "undo", "mergeProperties"] as const;

/** Whether what the texts say now has to be read first. */
function touchesTexts(change: ItemChange): boolean {
  return TEXT_CHANGES.some((name) => change[name] !== undefined);
}

/** The texts that are sent whole, as they are stored. */
function textsOf({
  title,
  summary,
  description,
}: ItemChange): Pick<ItemPatch, "title" | "summary" | "description"> {
  return {
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description: description?.trim() ? description : null }),
  };
}

function patchOf(change: ItemChange): ItemPatch {
  const { type, tags, traits, needs, assignee, properties, metadata } = change;
  return {
    ...textsOf(change),
    ...(type === undefined ? {} : { type }),
    ...(tags === undefined ? {} : { tags: tags ?? [] }),
    ...(traits === undefined ? {} : { traits: traits ?? [] }),
    ...(needs === undefined ? {} : { needs: needs ?? [] }),
    ...(assignee === undefined ? {} : { assignee }),
    ...(properties === undefined ? {} : { properties }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(change.dueAt === undefined ? {} : { due_at: change.dueAt }),
    ...(change.priority === undefined ? {} : { priority: change.priority }),
    ...(change.complexity === undefined ? {} : { complexity: change.complexity }),
    ...(change.requiresVerification === undefined
      ? {}
      : { requires_verification: change.requiresVerification }),
  };
}

async function toAnswer(
  tx: Handle,
  id: string,
  updated: UpdatedItem,
  cascades: readonly CascadeEvent[],
): Promise<UpdatedAnswer> {
  const answer: UpdatedAnswer = {
    id,
    modifiedAt: updated.modifiedAt.toISOString(),
    version: updated.version,
    requiresVerification: updated.requiresVerification,
  };
  if (cascades.length === 0) return answer;
  const withCascades = { ...answer, cascadeEvents: await nameCascades(tx, cascades) };
  return withCascades;
}
