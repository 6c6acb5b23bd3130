/**
 * Cycles, checked on the start and the end of each item rather than on items: an edge
 * runs from the end of A to the start of B and of everything below B, and a child ends
 * before its parent does. So a child cannot block its own ancestor's start, nor can an
 * ancestor block its child, and mixtures of edges and containment are found as well.
 */
export interface OrderGraph {
  /** Blocking edges, by blocker. */
  readonly blocks: ReadonlyMap<string, readonly string[]>;
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly parentOf: ReadonlyMap<string, string | null>;
}

/** Items along a cycle that the edge from → to would close, starting and ending with `from`; null if there is none. */
export function closingPath(graph: OrderGraph, from: string, to: string): string[] | null {
  // The edge says: end(from) before start(to). It closes a cycle if start(to) already comes before end(from).
  const path = pathBetween(graph, node(to, "start"), node(from, "end"));
  return path === null ? null : [from, ...path];
}

/**
 * Items along a cycle that hanging `child` under `parent` would close, starting with
 * `child`; null if there is none. The graph must no longer hold the child's old parent.
 */
export function containingPath(graph: OrderGraph, child: string, parent: string): string[] | null {
  // Containment says: start(parent) before start(child), and end(child) before end(parent).
  const down = pathBetween(graph, node(child, "start"), node(parent, "start"));
  if (down !== null) return [...down, child];
  const up = pathBetween(graph, node(parent, "end"), node(child, "end"));
  return up === null ? null : [child, ...up];
}

/**
 * Items along some cycle of the graph, starting and ending with the same one; null if there is
 * none. Looks at everything once, however many edges there are: for a graph that is all new.
 */
export function findCycle(graph: OrderGraph): string[] | null {
  return walkBack(peel(graph).left);
}

/**
 * The items in rounds: whatever has to end before an item ends is in an earlier round than it.
 * Items on a cycle come last, in no order.
 */
export function roundsOf(graph: OrderGraph): string[][] {
  const { rounds } = peel(graph);
  const roundOf = (id: string): number => rounds.get(node(id, "end")) ?? Number.MAX_SAFE_INTEGER;
  const byRound = new Map<number, string[]>();
  for (const id of itemsIn(graph)) byRound.set(roundOf(id), [...(byRound.get(roundOf(id)) ?? []), id]);
  return [...byRound].toSorted(([a], [b]) => a - b).map(([, items]) => items);
}

function itemsIn(graph: OrderGraph): Set<string> {
  return new Set([...graph.parentOf.keys(), ...[...graph.blocks].flatMap(([id, to]) => [id, ...to])]);
}

interface Peeled {
  /** By node: how many ends come before it, at most, one after the other. */
  readonly rounds: ReadonlyMap<string, number>;
  /** What is on a cycle or behind one, with what comes after each. */
  readonly left: ReadonlyMap<string, readonly string[]>;
}

/** Takes away, again and again, what nothing comes before. */
function peel(graph: OrderGraph): Peeled {
  const left = new Map(
    [...itemsIn(graph)]
      .flatMap((id) => [node(id, "start"), node(id, "end")])
      .map((at) => [at, successors(graph, at)] as const),
  );
  const before = new Map<string, number>();
  for (const at of [...left.values()].flat()) before.set(at, (before.get(at) ?? 0) + 1);
  const free = [...left.keys()].filter((at) => !before.has(at));
  const waits = new Map<string, number>();
  const rounds = new Map<string, number>();
  for (let at = free.pop(); at !== undefined; at = free.pop()) {
    const round = waits.get(at) ?? 0;
    rounds.set(at, round);
    const next = at.startsWith("end ") ? round + 1 : round;
    for (const after of left.get(at) ?? []) {
      waits.set(after, Math.max(waits.get(after) ?? 0, next));
      const others = (before.get(after) ?? 0) - 1;
      if (others === 0) free.push(after);
      before.set(after, others);
    }
    left.delete(at);
  }
  return { rounds, left };
}

/** Whatever is left has something before it that is left as well, so going back must meet itself. */
function walkBack(next: ReadonlyMap<string, readonly string[]>): string[] | null {
  const cameFrom = new Map<string, string>();
  for (const [at, successorsOfIt] of next) {
    for (const after of successorsOfIt) if (next.has(after)) cameFrom.set(after, at);
  }
  const met = new Map<string, number>();
  const walked: string[] = [];
  for (let at = next.keys().next().value; at !== undefined; at = cameFrom.get(at)) {
    walked.push(at);
    const first = met.get(at);
    if (first !== undefined) return itemsOf(walked.slice(first).toReversed());
    met.set(at, walked.length - 1);
  }
  return null;
}

function pathBetween(graph: OrderGraph, from: string, goal: string): string[] | null {
  const cameFrom = new Map<string, string | null>([[from, null]]);
  const queue = [from];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (at === goal) return itemsAlong(cameFrom, at);
    for (const next of successors(graph, at)) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      queue.push(next);
    }
  }
  return null;
}

type Side = "start" | "end";
const node = (id: string, side: Side): string => `${side} ${id}`;

function successors(graph: OrderGraph, at: string): string[] {
  const [side, id] = at.split(" ") as [Side, string];
  if (side === "start") {
    // A start comes before its own end and before the starts of everything below it.
    return [node(id, "end"), ...(graph.children.get(id) ?? []).map((child) => node(child, "start"))];
  }
  const parent = graph.parentOf.get(id);
  const blocked = (graph.blocks.get(id) ?? []).map((other) => node(other, "start"));
  return parent === undefined || parent === null ? blocked : [...blocked, node(parent, "end")];
}

function itemsAlong(cameFrom: ReadonlyMap<string, string | null>, end: string): string[] {
  const nodes: string[] = [];
  for (let at: string | null = end; at !== null; at = cameFrom.get(at) ?? null) nodes.push(at);
  return itemsOf(nodes.toReversed());
}

/** Each item once, where its start and its end follow each other. */
function itemsOf(nodes: readonly string[]): string[] {
  const ids = nodes.map((at) => at.slice(at.indexOf(" ") + 1));
  return ids.filter((id, index) => id !== ids[index - 1]);
}
