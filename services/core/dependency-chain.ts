/** The order of a graph of dependencies around one item. */

export interface BlockingEdge {
  readonly from: string;
  readonly to: string;
}

export interface DependencyChain {
  /** Every item before all that wait for it. */
  readonly order: readonly string[];
  /** Edges of the longest way through. */
  readonly depth: number;
}

/**
 * Orders what is at most `reach` edges away from the start. What lies in a circle, which no edge of ours
 * can make and an imported one could, comes last, so that nothing is lost.
 */
export function orderChain(
  start: string,
  edges: readonly BlockingEdge[],
  reach: number = Number.POSITIVE_INFINITY,
): DependencyChain {
  const near = within(start, edges, reach);
  const inside = edges.filter((edge) => near.has(edge.from) && near.has(edge.to));
  const waiting = new Map([...near].map((id) => [id, 0]));
  for (const edge of inside) waiting.set(edge.to, (waiting.get(edge.to) ?? 0) + 1);
  const heldUp = Map.groupBy(inside, (edge) => edge.from);
  const depths = new Map<string, number>();
  const order = [...near].filter((id) => waiting.get(id) === 0);
  for (const id of order) depths.set(id, 0);
  // Grows while it is walked.
  for (const id of order) {
    for (const { to } of heldUp.get(id) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(id) ?? 0) + 1));
      const left = (waiting.get(to) ?? 0) - 1;
      waiting.set(to, left);
      if (left === 0) order.push(to);
    }
  }
  const ordered = new Set(order);
  return {
    order: [...order, ...[...near].filter((id) => !ordered.has(id))],
    depth: Math.max(0, ...depths.values()),
  };
}

/** Against the edges and along them, but never back: what is held up by a blocker of the start is not the start's matter. */
function within(start: string, edges: readonly BlockingEdge[], reach: number): Set<string> {
  const along = Map.groupBy(edges, (edge) => edge.from);
  const against = Map.groupBy(edges, (edge) => edge.to);
  const next = [
    (id: string) => (against.get(id) ?? []).map((edge) => edge.from),
    (id: string) => (along.get(id) ?? []).map((edge) => edge.to),
  ];
  const all = new Set<string>([start]);
  for (const neighbours of next) {
    const seen = new Set([start]);
    let frontier = [start];
    for (let step = 0; step < reach && frontier.length > 0; step += 1) {
      frontier = frontier.flatMap(neighbours).filter((id) => !seen.has(id) && Boolean(seen.add(id)));
    }
    for (const id of seen) all.add(id);
  }
  return all;
}
