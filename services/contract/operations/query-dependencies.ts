/** `query_dependencies`: the edges of an item, the graph around it, and who points at it. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, dependency, id, offsetPage, priority } from "../answers.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { GRAPH_DEPTH_MAX, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";
import { DEPENDENCY_TYPES, DIRECTIONS } from "../vocabulary.ts";

const input = z
  .strictObject({
    operation: z.enum(["get", "backlinks"]).default("get"),
    itemId: fields.itemRef,
    direction: z.enum(DIRECTIONS).default("all"),
    type: z.enum(DEPENDENCY_TYPES).optional(),
    includeItemInfo: fields.flag.default(false),
    neighborsOnly: fields.flag.default(true).describe("false: also the graph beyond, as an ordered chain."),
    depth: z.int().min(1).max(GRAPH_DEPTH_MAX).optional().describe("How far the graph goes."),
    limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
    offset: fields.offset,
  })
  .superRefine(...crossField(rules));

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if (call.depth !== undefined && (call.neighborsOnly !== false || call.operation === "backlinks"))
    add(["depth"], "goes with neighborsOnly: false; the edges of the item itself have no depth");
  if (call.operation !== "backlinks") return;
  const ignored = { direction: "all", includeItemInfo: false, neighborsOnly: true };
  for (const [name, usual] of Object.entries(ignored)) {
    if (call[name] !== undefined && call[name] !== usual)
      add([name], "does not go with backlinks, but with get");
  }
}
/** A parsed call. */
export type QueryDependenciesInput = z.output<typeof input>;
export type QueryDependenciesRequest = z.input<typeof input>;

const itemInfo = answer({ title: z.string(), role: z.string(), priority });

const edge = answer({
  ...dependency.shape,
  effectiveUnblockRole: z.string().optional(),
  satisfied: z.boolean().optional(),
  fromItem: itemInfo.optional(),
  toItem: itemInfo.optional(),
});
export type DependencyEdge = z.output<typeof edge>;

const pageShape = {
  total: z.int(),
  returned: z.int(),
  ...offsetPage,
};

const edges = answer({
  dependencies: z.array(edge),
  counts: answer({ incoming: z.int(), outgoing: z.int(), relatesTo: z.int() }),
  graph: answer({ chain: z.array(id), depth: z.int(), truncated: z.boolean() }).optional(),
  ...pageShape,
});
export type DependencyEdges = z.output<typeof edges>;

const backlinks = answer({
  backlinks: z.array(
    answer({
      id,
      fromItemId: id,
      fromTitle: z.string(),
      fromRole: z.string(),
      type: z.enum(DEPENDENCY_TYPES),
    }),
  ),
  ...pageShape,
});
export type Backlinks = z.output<typeof backlinks>;

const output = z.union([edges, backlinks]);
export type QueryDependenciesOutput = z.output<typeof output>;

function render(result: QueryDependenciesOutput): string {
  const next = result.hasMore ? `; next page: offset ${result.offset + result.returned}` : "";
  if ("backlinks" in result) {
    return bounded([
      `${result.returned} of ${result.total} items point here${next}`,
      ...result.backlinks.map(
        (one) => `${one.fromItemId} ${one.type} [${one.fromRole}] ${oneLine(one.fromTitle, 120)}`,
      ),
    ]);
  }
  const { graph } = result;
  const open = (one: DependencyEdge): string =>
    one.satisfied === undefined
      ? ""
      : one.satisfied
        ? " (satisfied)"
        : ` (until ${one.effectiveUnblockRole})`;
  return bounded([
    `${result.returned} of ${result.total} dependencies${next}; ${facts(result.counts)}`,
    ...result.dependencies.map((one) => `${one.fromItemId} ${one.type} ${one.toItemId}${open(one)}`),
    graph === undefined
      ? ""
      : `${graph.chain.length} items in the graph${graph.truncated ? " (cut off)" : ""}, depth ${graph.depth}`,
  ]);
}

export const queryDependencies = defineOperation({
  name: "query_dependencies",
  description:
    "Read dependencies of an item. get: its edges, and with neighborsOnly false the order of all that it waits for " +
    "or holds up. backlinks: items with an edge to it.",
  input,
  output,
  annotations: readsOnly("Query dependencies"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
