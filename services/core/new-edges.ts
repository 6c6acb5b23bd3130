/**
 * May these edges be drawn, all of them? Judged in order, each against what is there and
 * what the batch drew before it, so that one answer names every edge that is in the way.
 */
import { closingPath, type OrderGraph } from "./cycle.ts";

export interface NewEdge {
  readonly from: string;
  readonly to: string;
  /** False for an edge that only relates: it takes part in no order. */
  readonly blocks: boolean;
}

export type EdgeRefusal =
  | { readonly code: "missing"; readonly id: string }
  | { readonly code: "self" }
  | { readonly code: "duplicate" }
  | { readonly code: "too_many"; readonly id: string }
  | { readonly code: "cycle"; readonly path: readonly string[] };

export interface KnownGraph {
  readonly exists: (id: string) => boolean;
  /** Edges that are there, in any direction a caller may have stated them. */
  readonly drawn: readonly NewEdge[];
  /** How many edges each end has. */
  readonly edgesOf: ReadonlyMap<string, number>;
  readonly edgesMax: number;
  /** Null where somebody else has made sure that nothing closes a cycle. */
  readonly order: OrderGraph | null;
}

/** Refusals by position; null where nothing stands against an edge. */
export function judgeNewEdges(edges: readonly NewEdge[], known: KnownGraph): (EdgeRefusal | null)[] {
  const drawn = new Set(known.drawn.map(keyOf));
  const counts = new Map(known.edgesOf);
  const blocks = new Map(known.order?.blocks);
  const order = known.order === null ? null : { ...known.order, blocks };
  return edges.map((edge) => {
    const refusal = judge(edge, known, drawn, counts, order);
    if (refusal !== null) return refusal;
    drawn.add(keyOf(edge));
    for (const end of [edge.from, edge.to]) counts.set(end, (counts.get(end) ?? 0) + 1);
    if (edge.blocks) blocks.set(edge.from, [...(blocks.get(edge.from) ?? []), edge.to]);
    return null;
  });
}

function judge(
  edge: NewEdge,
  known: KnownGraph,
  drawn: ReadonlySet<string>,
  counts: ReadonlyMap<string, number>,
  order: OrderGraph | null,
): EdgeRefusal | null {
  const { from, to } = edge;
  const missing = [from, to].find((id) => !known.exists(id));
  if (missing !== undefined) return { code: "missing", id: missing };
  if (from === to) return { code: "self" };
  if (drawn.has(keyOf(edge))) return { code: "duplicate" };
  const full = [from, to].find((id) => (counts.get(id) ?? 0) >= known.edgesMax);
  if (full !== undefined) return { code: "too_many", id: full };
  if (!edge.blocks || order === null) return null;
  const path = closingPath(order, from, to);
  return path === null ? null : { code: "cycle", path };
}

/** A relation is the same whichever end is named first; an order is not. */
function keyOf({ from, to, blocks }: NewEdge): string {
  if (blocks) return `${from} blocks ${to}`;
  return from < to ? `${from} relates ${to}` : `${to} relates ${from}`;
}
