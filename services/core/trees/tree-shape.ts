/**
 * A tree as it is asked for: items that name their parents by refs, and edges between refs.
 * Everything that can be wrong with that is found out here, before anything is written.
 *
 * Edges to what is there already cannot close a cycle that is not one of the new items alone:
 * everything new hangs below one item, and nothing there knows of it yet.
 */
import { findCycle } from "../cycle.ts";
import { type EdgeRefusal, judgeNewEdges } from "../new-edges.ts";

/** How the item at the top is referred to. */
export const ROOT_REF = "root";

export interface TreeNode {
  readonly ref: string;
  readonly parentRef: string;
}

export interface TreeEdge {
  readonly from: string;
  readonly to: string;
  /** False for an edge that only relates. */
  readonly blocks: boolean;
}

export interface TreeFault {
  readonly list: "children" | "deps";
  readonly index: number;
  readonly field: string | null;
  readonly message: string;
}

export interface TreeLimits {
  readonly depthMax: number;
  readonly edgesMax: number;
}

/** Everything that is wrong; at most one cycle is named. */
export function judgeTree(
  nodes: readonly TreeNode[],
  edges: readonly TreeEdge[],
  limits: TreeLimits,
): TreeFault[] {
  const faults = [...refFaults(nodes), ...edgeFaults(nodes, edges, limits)];
  // Depth and order make sense only where every ref means one item.
  return faults.length > 0 ? faults : [...depthFaults(nodes, limits), ...cycleFaults(nodes, edges)];
}

/** Refs above each item, from the top down; the top itself is left out. Items below themselves are missing. */
export function refsAbove(nodes: readonly TreeNode[]): Map<string, readonly string[]> {
  const children = childrenOf(nodes);
  const above = new Map<string, readonly string[]>();
  const open: { readonly ref: string; readonly above: readonly string[] }[] = [{ ref: ROOT_REF, above: [] }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const passed = at.ref === ROOT_REF ? [] : [...at.above, at.ref];
    for (const ref of children.get(at.ref) ?? []) {
      above.set(ref, passed);
      open.push({ ref, above: passed });
    }
  }
  return above;
}

function childrenOf(nodes: readonly TreeNode[]): Map<string, string[]> {
  const children = new Map<string, string[]>();
  for (const { ref, parentRef } of nodes) {
    const siblings = children.get(parentRef);
    if (siblings) siblings.push(ref);
    else children.set(parentRef, [ref]);
  }
  return children;
}

function refFaults(nodes: readonly TreeNode[]): TreeFault[] {
  const first = new Map<string, number>();
  for (const [index, { ref }] of nodes.entries()) if (!first.has(ref)) first.set(ref, index);
  return nodes.flatMap(({ ref, parentRef }, index): TreeFault[] => {
    const at = (field: string, message: string): TreeFault => ({ list: "children", index, field, message });
    const faults: TreeFault[] = [];
    const other = first.get(ref) ?? index;
    if (ref === ROOT_REF) faults.push(at("ref", `"${ROOT_REF}" means the item at the top; choose another`));
    else if (other !== index) faults.push(at("ref", `"${ref}" is the ref of children[${other}] already`));
    if (parentRef !== ROOT_REF && !first.has(parentRef))
      faults.push(at("parentRef", `no child has the ref "${parentRef}"`));
    return faults;
  });
}

function edgeFaults(
  nodes: readonly TreeNode[],
  edges: readonly TreeEdge[],
  { edgesMax }: TreeLimits,
): TreeFault[] {
  const refs = new Set([ROOT_REF, ...nodes.map(({ ref }) => ref)]);
  const known = {
    exists: (ref: string) => refs.has(ref),
    drawn: [],
    edgesOf: new Map(),
    edgesMax,
    order: null,
  };
  return judgeNewEdges(edges, known).flatMap((refusal, index): TreeFault[] =>
    refusal === null ? [] : [{ list: "deps", index, field: null, message: edgeMessage(refusal, edgesMax) }],
  );
}

function edgeMessage(refusal: EdgeRefusal, edgesMax: number): string {
  switch (refusal.code) {
    case "missing":
      return `no child has the ref "${refusal.id}"`;
    case "self":
      return "leads from an item to itself";
    case "duplicate":
      return "is there twice";
    case "too_many":
      return `"${refusal.id}" has more than ${edgesMax} dependencies`;
    case "cycle":
      return cycleMessage(refusal.path);
  }
}

function cycleMessage(path: readonly string[]): string {
  return `closes a cycle: ${path.join(" before ")}; a child ends before its parent does, and starts after it`;
}

function depthFaults(nodes: readonly TreeNode[], { depthMax }: TreeLimits): TreeFault[] {
  const above = refsAbove(nodes);
  return nodes.flatMap(({ ref }, index): TreeFault[] => {
    const at = (message: string): TreeFault => ({ list: "children", index, field: "parentRef", message });
    const refs = above.get(ref);
    if (refs === undefined) return [at(`"${ref}" would be below itself`)];
    const depth = refs.length + 1;
    return depth > depthMax ? [at(`"${ref}" would be ${depth} levels deep; at most ${depthMax}`)] : [];
  });
}

function cycleFaults(nodes: readonly TreeNode[], edges: readonly TreeEdge[]): TreeFault[] {
  const blocks = new Map<string, string[]>();
  for (const { from, to } of edges.filter((edge) => edge.blocks)) {
    const others = blocks.get(from);
    if (others) others.push(to);
    else blocks.set(from, [to]);
  }
  const parentOf = new Map([[ROOT_REF, null], ...nodes.map((one) => [one.ref, one.parentRef] as const)]);
  const path = findCycle({ blocks, children: childrenOf(nodes), parentOf });
  if (path === null) return [];
  const onPath = new Set(path);
  const index = edges.findIndex(({ from, to, blocks: holds }) => holds && onPath.has(from) && onPath.has(to));
  return [{ list: "deps", index: Math.max(index, 0), field: null, message: cycleMessage(path) }];
}
