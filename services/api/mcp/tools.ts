/**
 * The tools of this process, made once: converting a schema costs more than a whole
 * call, and 2025-era clients ask for the list on every connect.
 */
import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import type { Operation, Toolset } from "../../contract/operation.ts";
import { operationsOf } from "../../contract/registry.ts";
import { toolListing } from "../../contract/tool-listing.ts";

export const TOOLSETS = ["all", "worker", "orchestrator"] as const satisfies readonly Toolset[];

export interface Toolbox {
  /** What `tools/list` answers: the contract's order, the same for everybody. */
  list(toolset: Toolset): { tools: ListedTool[] };
  /** The operation behind a name, if this toolset has it. */
  find(toolset: Toolset, name: string): Operation | undefined;
}

/** Builds the lists of all toolsets. */
export function createToolbox(): Toolbox {
  const lists = bySet((toolset) => ({ tools: toolListing(toolset) as unknown as ListedTool[] }));
  const members = bySet(
    (toolset) => new Map(operationsOf(toolset).map((operation) => [operation.name, operation])),
  );
  return {
    list: (toolset) => lists[toolset],
    find: (toolset, name) => members[toolset].get(name),
  };
}

function bySet<T>(make: (toolset: Toolset) => T): Readonly<Record<Toolset, T>> {
  return { all: make("all"), worker: make("worker"), orchestrator: make("orchestrator") };
}
