/** What a plan did when it was run to its end: the indexes, the rows, and what was read without an index. */
import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "../../../db/schema.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface PlanFacts {
  readonly rows: number;
  readonly indexes: readonly string[];
  /** The most rows that any node handled, thrown away ones included. */
  readonly handled: number;
  readonly sorted: number;
  readonly sequential: readonly string[];
}

/** Runs the statement, and answers what its plan did. */
export async function explained(
  db: Kysely<Database>,
  text: string,
  values: readonly unknown[],
): Promise<PlanFacts> {
  type Explained = { "QUERY PLAN": [{ Plan: PlanNode }] };
  const { rows } = await db.executeQuery<Explained>(
    CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...values]),
  );
  const plan = rows[0]?.["QUERY PLAN"][0].Plan;
  if (plan === undefined) throw new Error("the server explained nothing");
  return lookAt(plan);
}

function lookAt(plan: PlanNode): PlanFacts {
  // A branch that a one-time filter cut off is in the plan and never ran.
  const nodes = flatten(plan).filter((node) => node["Actual Loops"] > 0);
  const handled = (node: PlanNode): number =>
    (node["Actual Rows"] +
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0)) *
    node["Actual Loops"];
  return {
    rows: plan["Actual Rows"],
    indexes: nodes.flatMap((node) => node["Index Name"] ?? []),
    handled: Math.max(...nodes.map(handled)),
    sorted: Math.max(
      0,
      ...nodes
        .filter((node) => node["Node Type"] === "Sort")
        .map((node) => node.Plans?.[0]?.["Actual Rows"] ?? 0),
    ),
    sequential: nodes.flatMap((node) =>
      node["Node Type"] === "Seq Scan" ? (node["Relation Name"] ?? []) : [],
    ),
  };
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
