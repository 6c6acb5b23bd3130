/** Small random work graphs: one root, items below it in any state, edges between them. */
import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import type { EdgeFixture, ItemFixture } from "./fixtures.ts";

export interface RandomGraph {
  readonly root: string;
  /** Parents before children; the root comes first. */
  readonly items: readonly (ItemFixture & { readonly id: string })[];
  readonly edges: readonly EdgeFixture[];
}

const AGENTS = ["ada", "bob"] as const;
const SKILLS = ["gpu", "ios"] as const;

const item = fc.record({
  parent: fc.nat(),
  state: fc.constantFrom("queue", "queue", "queue", "work", "review", "blocked", "dead", "done", "cancelled"),
  priority: fc.constantFrom("high", "medium", "low"),
  complexity: fc.option(fc.integer({ min: 1, max: 3 })),
  type: fc.constantFrom(null, null, "bug"),
  needs: fc.constantFrom<readonly string[]>([], [], [], ["gpu"], ["gpu", "ios"]),
  assignee: fc.constantFrom(null, null, null, ...AGENTS),
  availableIn: fc.constantFrom(null, null, null, -60, 3_600),
  holder: fc.constantFrom(null, null, null, null, ...AGENTS),
});

const edge = fc.record({
  from: fc.nat(),
  to: fc.nat(),
  unblockAt: fc.constantFrom(null, null, "queue", "work", "review", "terminal"),
  onCancelled: fc.constantFrom(null, "hold", "release"),
});

/** A graph of 2 to `max` items. Cycles among edges are left in: readiness does not mind them. */
export function randomGraph(max: number): fc.Arbitrary<RandomGraph> {
  return fc
    .record({
      items: fc.array(item, { minLength: 2, maxLength: max }),
      edges: fc.array(edge, { maxLength: max }),
    })
    .map(({ items, edges }) => assemble(items, edges));
}

type DrawnItem = typeof item extends fc.Arbitrary<infer T> ? T : never;
type DrawnEdge = typeof edge extends fc.Arbitrary<infer T> ? T : never;

function assemble(drawn: readonly DrawnItem[], drawnEdges: readonly DrawnEdge[]): RandomGraph {
  const ids = drawn.map(() => randomUUID());
  const root = ids[0] ?? "";
  const items = drawn.map((one, at) =>
    toFixture(one, ids[at] ?? root, at === 0 ? null : (ids[one.parent % at] ?? root)),
  );
  const open = new Map(items.map((one) => [one.id, one]));
  // Nothing open stands under anything closed, as in every graph that the engine makes.
  for (const one of items.toReversed()) {
    const parent = one.parentId ? open.get(one.parentId) : undefined;
    if (parent?.role === "terminal" && open.get(one.id)?.role !== "terminal") {
      open.set(parent.id, { ...parent, role: "queue" });
    }
  }
  return { root, items: items.map((one) => open.get(one.id) ?? one), edges: toEdges(drawnEdges, ids) };
}

function toFixture(one: DrawnItem, id: string, parentId: string | null): ItemFixture & { id: string } {
  const { state, priority, complexity, type, needs, assignee, availableIn, holder } = one;
  const closed = state === "done" || state === "cancelled";
  const claimable = state === "queue" || state === "work" || state === "review";
  return {
    id,
    parentId,
    role: closed ? "terminal" : state === "dead" ? "blocked" : state,
    ...(closed ? { outcome: state } : {}),
    dead: state === "dead",
    attempts: state === "dead" ? 5 : 0,
    priority,
    complexity,
    type,
    needs,
    assignee,
    availableIn: claimable ? availableIn : null,
    claim: claimable && holder !== null ? { agent: holder } : null,
  };
}

function toEdges(drawn: readonly DrawnEdge[], ids: readonly string[]): EdgeFixture[] {
  const edges = new Map<string, EdgeFixture>();
  for (const one of drawn) {
    const [from, to] = [ids[one.from % ids.length] ?? "", ids[one.to % ids.length] ?? ""];
    if (from !== to)
      edges.set(`${from} ${to}`, { from, to, unblockAt: one.unblockAt, onCancelled: one.onCancelled });
  }
  return [...edges.values()];
}

export const ASKERS = [
  { agent: null, capabilities: [] },
  { agent: AGENTS[0], capabilities: [] },
  { agent: AGENTS[1], capabilities: [...SKILLS] },
] as const;
