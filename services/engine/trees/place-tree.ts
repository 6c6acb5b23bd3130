/** Gives every item of a tree its id and its place. */
import { randomUUID } from "node:crypto";
import type { CreateWorkTreeInput, NoteAnchor } from "../../contract/operations/create-work-tree.ts";
import type { NewItem } from "../../contract/operations/manage-items.ts";
import { blockersAbove } from "../../core/placement.ts";
import type { ItemState } from "../../core/state.ts";
import { refsAbove, ROOT_REF } from "../../core/trees/tree-shape.ts";
import type { SchemaKey } from "../config/schema-source.ts";
import type { ItemPlace } from "../items/item-row.ts";

/** Something of the tree that notes can be written on. */
export interface TreeMember extends SchemaKey {
  readonly ref: string;
  readonly id: string;
  readonly anchors: readonly NoteAnchor[];
  /** Where the anchors stand in the call. */
  readonly path: string;
}

export interface PlacedItem extends TreeMember, ItemPlace {
  readonly item: NewItem;
}

export interface PlacedTree {
  readonly rootId: string;
  /** The item at the top, made or attached to. */
  readonly top: TreeMember;
  readonly topState: ItemState | null;
  /** What is to be stored: parents need not come first, but the call's order is kept. */
  readonly made: readonly PlacedItem[];
  /** With the top. */
  readonly members: readonly TreeMember[];
  /** Levels below the first one that is made. */
  readonly height: number;
  readonly idOf: (ref: string) => string;
}

/** @param above the item to attach to, or the parent of the new root */
export function placeTree(input: CreateWorkTreeInput, above: ItemState | null): PlacedTree {
  const attached = input.attachTo === null ? null : above;
  const ids = new Map([
    [ROOT_REF, attached?.id ?? randomUUID()],
    ...input.children.map(({ ref }) => [ref, randomUUID()] as const),
  ]);
  const idOf = (ref: string): string => {
    const id = ids.get(ref);
    if (id === undefined) throw new Error(`nothing has the ref ${ref}`);
    return id;
  };
  const aboveAll = above === null ? [] : [...above.ancestors, above.id];
  const rootId = aboveAll[0] ?? idOf(ROOT_REF);
  const ancestorBlockers = blockersAbove(above);
  const topAncestors = attached === null ? aboveAll : [...attached.ancestors];
  const refs = refsAbove(input.children);
  const place = (ref: string, item: NewItem, anchors: readonly NoteAnchor[], path: string): PlacedItem => {
    const between = refs.get(ref);
    const ancestors =
      between === undefined ? topAncestors : [...topAncestors, idOf(ROOT_REF), ...between.map(idOf)];
    const { type = null, tags, traits } = item;
    const key = { rootId, type, tags: tags ?? [], traits: traits ?? [] };
    return { ref, id: idOf(ref), ancestors, ancestorBlockers, item, anchors, path, ...key };
  };
  const children = input.children.map(({ ref, item, noteAnchors }, index) =>
    place(ref, item, noteAnchors, `children[${index}]`),
  );
  const newRoot = input.root === null ? null : place(ROOT_REF, input.root, input.rootAnchors, "root");
  const top = newRoot ?? attachedMember(attached, input.rootAnchors);
  const made = newRoot === null ? children : [newRoot, ...children];
  const depths = made.map(({ ancestors }) => ancestors.length);
  return {
    rootId,
    top,
    topState: attached,
    made,
    members: [top, ...children],
    height: depths.length === 0 ? 0 : depths.reduce((a, b) => Math.max(a, b)) - aboveAll.length,
    idOf,
  };
}

function attachedMember(attached: ItemState | null, anchors: readonly NoteAnchor[]): TreeMember {
  if (attached === null) throw new Error("a tree needs a new root or one to attach to");
  const { id, rootId, type, tags, traits } = attached;
  return { ref: ROOT_REF, id, rootId, type, tags, traits, anchors, path: "root" };
}
