/** What was made, as the caller reads it: in full where that fits, else what is needed to go on. */
import type { DependencyRow } from "../../../db/stores/dependency-store.ts";
import type { DocumentHead } from "../../../db/stores/plan-document-store.ts";
import type { CreateWorkTreeOutput } from "../../contract/operations/create-work-tree.ts";
import type { Schemas } from "../config/schema-source.ts";
import { toDocumentHead } from "../documents/document-answers.ts";
import { createdFacts } from "../items/created-facts.ts";
import { fitPage, PAGE_SIZE_MAX_BYTES, sizeOf } from "../queries/fit-page.ts";
import type { PlacedItem, PlacedTree } from "./place-tree.ts";
import type { TreeNoteEntry, TreeNotes } from "./tree-notes.ts";

export interface MadeTree {
  readonly tree: PlacedTree;
  readonly edges: readonly DependencyRow[];
  readonly written: readonly (TreeNoteEntry & { readonly id: string; readonly warning: string | null })[];
  readonly adopted: DocumentHead | null;
  readonly schemas: Schemas;
  readonly notes: TreeNotes;
  /** Of an item that was attached to. */
  readonly title: string | undefined;
}

type Child = CreateWorkTreeOutput["children"][number];

/** The text beside it and what is said once need room too. */
const CHILDREN_SIZE_MAX_BYTES = PAGE_SIZE_MAX_BYTES - 8_000;

export function answerOf(made: MadeTree): CreateWorkTreeOutput {
  const { tree, edges, written, adopted } = made;
  const below = tree.made.filter(({ ref }) => ref !== tree.top.ref);
  const refOf = new Map(tree.members.map(({ id, ref }) => [id, ref]));
  const warnings = written.flatMap(({ path, warning }) => (warning === null ? [] : [`${path}: ${warning}`]));
  const common = {
    root: rootOf(made),
    created: { items: tree.made.length, dependencies: edges.length, notes: written.length },
    ...(adopted === null ? {} : { adoptedDocument: toDocumentHead(adopted) }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.slice(0, 20) }),
  };
  const whole = {
    ...common,
    children: below.map((one): Child => ({ ref: one.ref, ...factsOf(made, one) })),
    dependencies: edges.map((row) => ({
      id: row.id,
      fromRef: refOf.get(row.from_item) ?? "",
      toRef: refOf.get(row.to_item) ?? "",
      type: row.type,
      ...(row.unblock_at === null ? {} : { unblockAt: row.unblock_at }),
    })),
    notes: written.map(({ id, itemRef, key, role }) => ({ id, itemRef, key, role })),
  };
  if (sizeOf(whole) <= PAGE_SIZE_MAX_BYTES) return whole;
  const short = below.map(({ ref, id, ancestors }): Child => ({ ref, id, depth: ancestors.length }));
  const children = fitPage(short, CHILDREN_SIZE_MAX_BYTES);
  return {
    ...common,
    children,
    dependencies: [],
    notes: [],
    omitted: {
      children: below.length - children.length,
      dependencies: edges.length,
      notes: written.length,
    },
  };
}

function rootOf(made: MadeTree): CreateWorkTreeOutput["root"] {
  const { tree, title } = made;
  const { top, topState } = tree;
  const isNew = tree.made.find((one) => one.ref === top.ref);
  if (isNew !== undefined) return { ...factsOf(made, isNew), title: isNew.item.title };
  return {
    id: top.id,
    attached: true,
    title: title ?? "",
    role: topState?.role ?? "queue",
    depth: topState?.ancestors.length ?? 0,
    parentId: topState?.parentId ?? null,
    tags: csv(top.tags),
    ...(top.type === null ? {} : { type: top.type }),
    ...createdFacts(made.schemas.of(top), made.notes.keysOf(top.ref)),
  };
}

function factsOf({ schemas, notes }: MadeTree, one: PlacedItem): Omit<Child, "ref"> {
  return {
    id: one.id,
    title: one.item.title,
    role: "queue",
    depth: one.ancestors.length,
    parentId: one.ancestors.at(-1) ?? null,
    priority: one.item.priority,
    tags: csv(one.tags),
    ...(one.type === null ? {} : { type: one.type }),
    ...createdFacts(schemas.of(one), notes.keysOf(one.ref)),
  };
}

function csv(tags: readonly string[]): string | null {
  return tags.length === 0 ? null : tags.join(",");
}
