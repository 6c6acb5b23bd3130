/** `manage_dependencies`: draw and remove edges between items. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, dependency, elementFailure, id } from "../answers.ts";
import { countPresent, crossField, elementsOf, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { BATCH_SIZE_MAX } from "../limits.ts";
import { bounded, facts, failureLine, oneLine } from "../rendering.ts";
import {
  DEPENDENCY_TYPES,
  ON_CANCELLED,
  THRESHOLDS,
  type DependencyType,
  type OnCancelled,
  type Threshold,
} from "../vocabulary.ts";

const edgeShape = {
  type: z.enum(DEPENDENCY_TYPES).optional(),
  unblockAt: z.enum(THRESHOLDS).optional(),
  onCancelled: z.enum(ON_CANCELLED).optional(),
};
const edge = z.strictObject({ fromItemId: fields.itemRef, toItemId: fields.itemRef, ...edgeShape });
const refs = z.array(fields.itemRef).min(1).max(BATCH_SIZE_MAX);

const shape = z
  .strictObject({
    operation: z.enum(["create", "delete"]),
    dependencies: z.array(edge).min(1).max(BATCH_SIZE_MAX).optional().describe("from blocks to."),
    pattern: z.enum(["linear", "fan-out", "fan-in"]).optional().describe("Instead of dependencies."),
    itemIds: refs.optional().describe("linear: in order."),
    fromItemId: fields.itemRef.optional(),
    toItemIds: refs.optional().describe("fan-out."),
    fromItemIds: refs.optional().describe("fan-in."),
    toItemId: fields.itemRef.optional(),
    type: edgeShape.type.describe("Default BLOCKS."),
    unblockAt: edgeShape.unblockAt.describe("Role of the blocker that frees; default terminal."),
    onCancelled: edgeShape.onCancelled.describe("If the blocker is cancelled."),
    dependencyId: fields.fullId.optional().describe("delete."),
    deleteAll: fields.flag.default(false).describe("delete: all edges from or to one item."),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

type Call = Readonly<Record<string, unknown>>;

const PATTERN_FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["linear", ["itemIds"]],
  ["fan-out", ["fromItemId", "toItemIds"]],
  ["fan-in", ["fromItemIds", "toItemId"]],
]);
const PLACES = ["itemIds", "fromItemId", "toItemIds", "fromItemIds", "toItemId"] as const;

function rules(call: Call, add: AddFault): void {
  if (call.operation === "create") createRules(call, add);
  if (call.operation === "delete") deleteRules(call, add);
}

function createRules(call: Call, add: AddFault): void {
  for (const name of ["dependencyId", "deleteAll"]) {
    if (call[name] !== undefined && call[name] !== false) add([name], "belongs to delete");
  }
  if (countPresent(call, ["dependencies", "pattern"]) !== 1) {
    add(
      [],
      "create needs exactly one of dependencies: [{fromItemId, toItemId}] and pattern (linear, fan-out, fan-in)",
    );
  }
  const pattern = typeof call.pattern === "string" ? call.pattern : undefined;
  const wanted = pattern === undefined ? [] : (PATTERN_FIELDS.get(pattern) ?? []);
  for (const name of PLACES) {
    if (wanted.includes(name) && call[name] === undefined) add([name], `is needed for pattern ${pattern}`);
    if (wanted.includes(name) || call[name] === undefined) continue;
    const place =
      pattern === undefined
        ? "belongs into the elements of dependencies, or to a pattern"
        : `does not go with pattern ${pattern}`;
    add([name], place);
  }
  if (call.pattern === "linear" && Array.isArray(call.itemIds) && call.itemIds.length < 2) {
    add(["itemIds"], "needs at least two items to draw a line");
  }
  thresholdOfRelation(call, [], add);
  for (const [index, one] of elementsOf(call.dependencies)) {
    thresholdOfRelation({ type: call.type, unblockAt: call.unblockAt, ...one }, ["dependencies", index], add);
  }
}

function thresholdOfRelation(one: Call, at: readonly (string | number)[], add: AddFault): void {
  if (one.type !== "RELATES_TO") return;
  for (const name of ["unblockAt", "onCancelled"]) {
    if (one[name] !== undefined)
      add([...at, name], "does not go with RELATES_TO, which blocks nothing; leave it out");
  }
}

function deleteRules(call: Call, add: AddFault): void {
  for (const name of [
    "dependencies",
    "pattern",
    "itemIds",
    "toItemIds",
    "fromItemIds",
    "unblockAt",
    "onCancelled",
  ]) {
    if (call[name] !== undefined) add([name], "belongs to create");
  }
  const sides = countPresent(call, ["fromItemId", "toItemId"]);
  const byId = call.dependencyId !== undefined;
  const ok = byId
    ? sides === 0 && call.deleteAll !== true
    : call.deleteAll === true
      ? sides === 1
      : sides === 2;
  if (!ok)
    add([], "delete needs one of: dependencyId; fromItemId and toItemId; deleteAll with one of the two");
}

/** An edge to create, its defaults filled in except `onCancelled`, which the root's configuration decides. */
export interface NewDependency {
  readonly fromItemId: string;
  readonly toItemId: string;
  readonly type: DependencyType;
  readonly unblockAt?: Threshold;
  readonly onCancelled?: OnCancelled;
}

type Shape = z.output<typeof shape>;
type Common = Pick<Shape, "actor" | "workerId" | "requestId">;
export type CreateDependencies = Common & {
  readonly operation: "create";
  readonly dependencies: NewDependency[];
};
export type DeleteDependencies = Common &
  Pick<Shape, "dependencyId" | "fromItemId" | "toItemId" | "type" | "deleteAll"> & {
    readonly operation: "delete";
  };
/** A parsed call; a pattern has become the edges it stands for. */
export type ManageDependenciesInput = CreateDependencies | DeleteDependencies;
export type ManageDependenciesRequest = z.input<typeof shape>;

const input = shape.transform((call): ManageDependenciesInput => {
  const { actor, workerId, requestId } = call;
  const common: Common = { actor, workerId, requestId };
  if (call.operation === "create") return { ...common, operation: "create", dependencies: edgesOf(call) };
  const { dependencyId, fromItemId, toItemId, type, deleteAll } = call;
  return { ...common, operation: "delete", dependencyId, fromItemId, toItemId, type, deleteAll };
});

function edgesOf(call: Shape): NewDependency[] {
  const pairs: Pick<NewDependency, "fromItemId" | "toItemId">[] = [];
  const ids = call.itemIds ?? [];
  for (const [index, toItemId] of ids.entries()) {
    const fromItemId = ids[index - 1];
    if (fromItemId !== undefined) pairs.push({ fromItemId, toItemId });
  }
  for (const toItemId of call.toItemIds ?? []) pairs.push({ fromItemId: call.fromItemId ?? "", toItemId });
  for (const fromItemId of call.fromItemIds ?? []) pairs.push({ fromItemId, toItemId: call.toItemId ?? "" });
  return [...pairs, ...(call.dependencies ?? [])].map((one: z.output<typeof edge>) => {
    const type = one.type ?? call.type ?? "BLOCKS";
    const unblockAt = one.unblockAt ?? call.unblockAt;
    const onCancelled = one.onCancelled ?? call.onCancelled;
    return {
      fromItemId: one.fromItemId,
      toItemId: one.toItemId,
      type,
      ...(unblockAt === undefined ? {} : { unblockAt }),
      ...(onCancelled === undefined ? {} : { onCancelled }),
    };
  });
}

const created = answer({
  dependencies: z.array(dependency),
  created: z.int(),
  failed: z.int(),
  failures: z.array(elementFailure).optional(),
  replayed: z.boolean().optional(),
});
const deleted = answer({
  /** The ends that were named, or the one item whose edges went. */
  fromItemId: id.optional(),
  toItemId: id.optional(),
  itemId: id.optional(),
  deleted: z.int(),
  freedItems: z.array(answer({ itemId: id, title: z.string() })).optional(),
  replayed: z.boolean().optional(),
});
const output = z.union([created, deleted]);
export type CreateDependenciesOutput = z.output<typeof created>;
export type DeleteDependenciesOutput = z.output<typeof deleted>;
export type ManageDependenciesOutput = z.output<typeof output>;

function render(result: ManageDependenciesOutput): string {
  if ("created" in result) {
    return bounded([
      result.failed === 0
        ? `created ${result.created} dependencies`
        : `NOTHING created: ${result.failed} of the batch failed`,
      ...(result.failures ?? []).map(failureLine),
      ...result.dependencies.map((one) =>
        `${one.id} ${one.fromItemId} ${one.type} ${one.toItemId} ${facts({ unblockAt: one.unblockAt })}`.trim(),
      ),
    ]);
  }
  return bounded([
    `deleted ${result.deleted} dependencies`,
    ...(result.freedItems ?? []).map(
      (item) => `no longer blocked by it: ${item.itemId} ${oneLine(item.title, 80)}`,
    ),
  ]);
}

export const manageDependencies = defineOperation({
  name: "manage_dependencies",
  description:
    "Create or delete dependencies. create: dependencies [{fromItemId, toItemId}] (from blocks to), or a pattern: " +
    "linear (A then B then C), fan-out, fan-in. All or nothing; cycles and duplicates are refused. " +
    "delete: by dependencyId, by both ends, or deleteAll of one side.",
  input,
  output,
  annotations: writes("Manage dependencies", { destructive: true }),
  capability: "manage-dependencies",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
