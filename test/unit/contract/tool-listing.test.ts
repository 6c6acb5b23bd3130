import { describe, expect, it } from "vitest";
import { schemasOf, type JsonSchema } from "../../../services/contract/json-schema.ts";
import { OPERATIONS, operationByName, operationsOf } from "../../../services/contract/registry.ts";
import { toolListing } from "../../../services/contract/tool-listing.ts";
import { TOOL_SURFACE_CHANGELOG, TOOL_SURFACE_VERSION } from "../../../services/contract/tool-surface.ts";

const KEYWORDS = new Set([
  "type",
  "description",
  "default",
  "minimum",
  "maximum",
  "enum",
  "items",
  "properties",
  "required",
  "additionalProperties",
]);
const SCALARS_AND_CONTAINERS = new Set(["string", "integer", "number", "boolean", "array", "object"]);

interface Part {
  readonly path: string;
  readonly schema: JsonSchema;
}

/** A schema and everything in it. */
function partsOf(schema: JsonSchema, path: string): Part[] {
  const inItems = schema.items === undefined ? [] : partsOf(schema.items, `${path}[]`);
  const fields = Object.entries(schema.properties ?? {});
  return [
    { path, schema },
    ...inItems,
    ...fields.flatMap(([name, field]) => partsOf(field, `${path}.${name}`)),
  ];
}

/** Paths of the parts that break a rule. */
function breaking(schema: JsonSchema, rule: (part: JsonSchema) => boolean): string[] {
  return partsOf(schema, "")
    .filter((part) => !rule(part.schema))
    .map((part) => part.path);
}

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  "the schemas of %s",
  (_name, operation) => {
    const { input, parsed, output } = schemasOf(operation);

    it("are flat: no unions, references, null types or patterns", () => {
      const flat = (part: JsonSchema): boolean =>
        Object.keys(part).every((keyword) => KEYWORDS.has(keyword)) &&
        (part.type === undefined || SCALARS_AND_CONTAINERS.has(part.type));
      for (const schema of [input, parsed, output]) expect(breaking(schema, flat)).toEqual([]);
    });

    it("are closed for inputs and open for outputs", () => {
      const closed = (part: JsonSchema): boolean =>
        part.properties === undefined || part.additionalProperties === false;
      expect(breaking(input, closed)).toEqual([]);
      expect(breaking(output, (part) => part.additionalProperties === undefined)).toEqual([]);
    });

    it("give every input field a type", () => {
      expect(breaking(input, (part) => typeof part.type === "string")).toEqual([]);
    });

    it("are converted once, and frozen", () => {
      expect(schemasOf(operation)).toBe(schemasOf(operation));
      expect(breaking(input, Object.isFrozen)).toEqual([]);
    });
  },
);

describe("the tool list", () => {
  it("stays within its budget: worker 10 KiB, all 40 KiB", () => {
    expect(JSON.stringify(toolListing("worker")).length).toBeLessThanOrEqual(10 * 1024);
    expect(JSON.stringify(toolListing("all")).length).toBeLessThanOrEqual(40 * 1024);
  });

  it("has a fixed order, and names only what MCP serves", () => {
    expect(toolListing("all").map((tool) => tool.name)).toEqual([
      "claim_item",
      "advance_item",
      "get_next_item",
      "get_next_status",
      "query_items",
      "explain_item",
      "get_blocked_items",
      "manage_items",
      "manage_dependencies",
      "manage_notes",
      "query_notes",
      "manage_project_config",
      "query_dependencies",
      "get_context",
      "create_work_tree",
      "complete_tree",
      "manage_plan_documents",
      "query_rules",
      "get_report",
      "manage_reminders",
    ]);
    expect(operationByName.get("list_claims")?.mcp).toBe(false);
  });

  it("a toolset is a part of all, in the same order", () => {
    const all = operationsOf("all");
    for (const toolset of ["worker", "orchestrator"] as const) {
      const some = operationsOf(toolset);
      expect(all.filter((one) => some.includes(one))).toEqual(some);
      expect(some.length).toBeGreaterThan(0);
    }
  });

  it("describes each tool in at most 500 characters, with all four hints and a title", () => {
    const hints = ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"];
    for (const tool of toolListing("all")) {
      expect(tool.description.length).toBeLessThanOrEqual(500);
      expect(tool.title).not.toBe("");
      expect(Object.keys(tool.annotations).toSorted()).toEqual(hints);
    }
  });

  it("offers a field that is accepted silently to nobody", () => {
    expect(JSON.stringify(toolListing("all"))).not.toContain("agentId");
  });

  it("has the version that heads its changelog", () => {
    expect(TOOL_SURFACE_CHANGELOG[0]?.version).toBe(TOOL_SURFACE_VERSION);
  });
});
