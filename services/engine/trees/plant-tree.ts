/** Making a tree inside its transaction: locks, decisions, rows, and the books of whoever got children and blockers. */
import { insertDependencies, type DependencyRow } from "../../../db/stores/dependency-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import { insertItems } from "../../../db/stores/item-write-store.ts";
import { existingNoteKeys, touchHeldItem } from "../../../db/stores/note-store.ts";
import { adoptDocument } from "../../../db/stores/plan-document-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import type {
  CreateWorkTreeInput,
  CreateWorkTreeOutput,
} from "../../contract/operations/create-work-tree.ts";
import { joinParent, judgePlacement } from "../../core/placement.ts";
import type { ItemState } from "../../core/state.ts";
import { ROOT_REF } from "../../core/trees/tree-shape.ts";
import type { World } from "../../core/world.ts";
import { countBlocker, settleOnCancelled } from "../dependencies/create-dependencies.ts";
import { toEdgeRow } from "../dependencies/edge-row.ts";
import type { EngineDeps } from "../deps.ts";
import { toItemRow } from "../items/item-row.ts";
import { placementFault } from "../items/placement-fault.ts";
import { shareGraphs } from "../items/share-graphs.ts";
import { writeNotes } from "../notes/write-notes.ts";
import { askDoors, claimLost, withTenuresAbove } from "../writing/doors.ts";
import { lockWorld, saveWorld, type Wider } from "../writing/transact.ts";
import type { WriteCall } from "../writing/write-call.ts";
import { openDocument } from "./open-document.ts";
import { placeTree, type PlacedTree } from "./place-tree.ts";
import { answerOf } from "./tree-answer.ts";
import { refusedNote, type TreeNoteEntry, treeNotes } from "./tree-notes.ts";

export interface Planting {
  readonly input: CreateWorkTreeInput;
  /** The item to attach to, or the parent of the new root. */
  readonly above: string | null;
  readonly documentRoot: string | null;
}

export interface Planted {
  readonly world: World;
  readonly answer: CreateWorkTreeOutput;
}

/** Nothing of it was made before, and nothing hangs below it. */
const NEW_CHILD = { role: "queue", outcome: null } as const;

export async function plantTree(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  planting: Planting,
): Promise<Planted> {
  const { input, above } = planting;
  await shareGraphs(
    tx,
    [above, planting.documentRoot].flatMap((id) => id ?? []),
  );
  const document = await openDocument(tx, input.docRef?.slug ?? null, planting.documentRoot ?? above);
  const tenures = above === null ? [] : await withTenuresAbove(tx, call, [above]);
  const parent = above === null ? null : await lockAbove(deps, call, tx, wider, above, tenures);
  const tree = placeTree(input, parent);
  if (parent !== null) judgePlace(parent, tree);

  const schemas = await deps.schemas.load(tx, [tree.rootId]);
  const existing = input.attachTo === null ? null : await existingNoteKeys(tx, [tree.top.id]);
  const notes = treeNotes(input, tree, {
    schemaOf: (item) => schemas.of(item),
    existing: existing?.get(tree.top.id) ?? new Set(),
    document,
  });
  const rows = tree.made.map((one) => toItemRow(one.item, one, schemas.of(one), notes.filledOf(one.ref)));
  await insertItems(tx, rows, call.author);

  const wanted = input.deps.map((edge) => toEdgeRow(edge, tree.idOf(edge.from), tree.idOf(edge.to)));
  const containers = blockedContainers(tree, wanted);
  const ids = tree.made.map((one) => one.id);
  const subtrees = [...new Set([...wider.subtrees, ...containers])];
  const locked = { ...wider, items: [...wider.items, ...tenures], subtrees };
  const world = await lockWorld(deps, tx, [...(above === null ? [] : [above]), ...ids], locked, "none");
  enterItems(world, tree);
  const edges = await settleOnCancelled(deps, tx, world, wanted);
  await drawEdges(deps, call, tx, world, edges, containers);
  const written = await writeAll(call, tx, world, schemas, tree, notes.entries);
  const adopted = document === null ? null : await adoptDocument(tx, document.id, tree.top.id, call.author);
  await saveWorld(tx, world);
  const titles = input.attachTo === null ? new Map<string, string>() : await findTitles(tx, [tree.top.id]);
  const answer = answerOf({ tree, edges, written, adopted, schemas, notes, title: titles.get(tree.top.id) });
  return { world, answer };
}

async function lockAbove(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  id: string,
  tenures: readonly string[],
): Promise<ItemState> {
  const world = await lockWorld(deps, tx, [...new Set([id, ...tenures])], wider, "none");
  const item = world.find(id);
  if (item === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  const [verdict] = await askDoors(deps, tx, world, call, "open", [{ itemId: id, fence: null }]);
  if (verdict?.kind === "claim_lost") throw claimLost(id);
  return item;
}

function judgePlace(parent: ItemState, { made, height }: PlacedTree): void {
  if (made.length === 0) return;
  const refusal = judgePlacement(parent, { id: null, child: NEW_CHILD, height, depthMax: TREE_DEPTH_MAX });
  if (refusal !== null) throw placementFault(refusal, parent.id);
}

/** Items with children that an edge leads to: what is below them waits as well. */
function blockedContainers(tree: PlacedTree, edges: readonly DependencyRow[]): ReadonlySet<string> {
  const parents = new Set(tree.made.flatMap((one) => one.ancestors.at(-1) ?? []));
  return new Set(
    edges.flatMap(({ type, to_item: to }) => (type === "BLOCKS" && parents.has(to) ? [to] : [])),
  );
}

function enterItems(world: World, tree: PlacedTree): void {
  for (const { id, ancestors } of tree.made) {
    const parentId = ancestors.at(-1) ?? null;
    if (parentId !== null) joinParent(world, parentId, NEW_CHILD);
    world.events.push({ type: "item.created", itemId: id, rootId: tree.rootId, data: { parentId } });
  }
}

async function drawEdges(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  world: World,
  edges: readonly DependencyRow[],
  containers: ReadonlySet<string>,
): Promise<void> {
  await insertDependencies(tx, edges, call.author);
  for (const row of edges) {
    if (row.type === "BLOCKS") countBlocker(deps, world, row, containers.has(row.to_item));
    world.events.push({
      type: "dependency.added",
      itemId: row.to_item,
      rootId: world.get(row.to_item).rootId,
      data: { id: row.id, fromItemId: row.from_item, toItemId: row.to_item, type: row.type },
    });
  }
}

export interface WrittenEntry extends TreeNoteEntry {
  readonly id: string;
  readonly warning: string | null;
}

async function writeAll(
  call: WriteCall,
  tx: Handle,
  world: World,
  schemas: Parameters<typeof writeNotes>[1],
  tree: PlacedTree,
  entries: readonly TreeNoteEntry[],
): Promise<WrittenEntry[]> {
  if (entries.length === 0) return [];
  const targets = entries.map(({ itemRef, key, role, body, index }) => ({
    item: world.get(tree.idOf(itemRef)),
    key,
    role,
    body,
    index,
  }));
  const outcomes = await writeNotes(tx, schemas, targets, call.author);
  const written = outcomes.map((outcome, index): WrittenEntry => {
    const entry = entries[index];
    if (entry === undefined) throw new Error("more notes were written than there are entries");
    if (!outcome.ok) throw refusedNote(entry, outcome.error);
    world.events.push(outcome.event);
    return { ...entry, id: outcome.note.id, warning: outcome.note.warning };
  });
  const top = world.get(tree.top.id);
  const isHeldByAnother =
    top.claim !== null && (top.claim.agent !== call.agent || top.claim.session !== call.session);
  // Its holder hears with the next heartbeat that there is something to read.
  if (isHeldByAnother && entries.some((entry) => entry.itemRef === ROOT_REF)) await touchHeldItem(tx, top.id);
  return written;
}
