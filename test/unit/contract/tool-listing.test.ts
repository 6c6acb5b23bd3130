import { describe, expect, it } from "vitest";
import { schemasOf, type JsonSchema } from "../../../services/contract/json-schema.ts";
import { OPERATIONS, operationByName, operationsOf } from "../../../services/contract/registry.ts";
import { toolListing } from "../../../services/contract/tool-listing.ts";
import { TOOL_SURFACE_CHANGELOG, TOOL_SURFACE_VERSION } from "../../../services/contract/tool-surface.ts";

const KEYWORDS = new Set(["type", "description", "default", "minimum", "maximum", "enum", "items", "properties", "required", "additionalProperties"]);

function visit(schema: JsonSchema, path: string, see: (schema: JsonSchema, path: string) => void): void {
  see(schema, path);
  if (schema.items !== undefined) visit(schema.items, `${path}[]`, see);
  for (const [name, field] of Object.entries(schema.properties ?? {})) visit(field, `${path}.${name}`, see);
}

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))("the schemas of %s", (name, operation) => {
  it("are flat: no unions, references, null types or patterns", () => {
    for (const [side, schema] of Object.entries(schemasOf(operation))) {
      visit(schema as JsonSchema, `${name}.${side}`, (one, path) => {
        expect(Object.keys(one).filter((keyword) => !KEYWORDS.has(keyword)), path).toEqual([]);
        expect(["string", "undefined"], path).toContain(typeof one.type);
        expect(one.type, path).not.toBe("null");
      });
    }
  });

  it("are closed for inputs and open for outputs", () => {
    visit(schemasOf(operation).input, `${name}.input`, (one, path) => {
      if (one.properties !== undefined) expect(one.additionalProperties, path).toBe(false);
    });
    visit(schemasOf(operation).output, `${name}.output`, (one, path) => {
      expect(one.additionalProperties, path).toBeUndefined();
    });
  });

  it("give every input field a type", () => {
    visit(schemasOf(operation).input, `${name}.input`, (one, path) => expect(one.type, path).toBeTypeOf("string"));
  });

  it("are converted once, and frozen", () => {
    expect(schemasOf(operation)).toBe(schemasOf(operation));
    visit(schemasOf(operation).input, name, (one) => expect(Object.isFrozen(one)).toBe(true));
  });
});

describe("the tool list", () => {
  it("stays within its budget: worker 10 KiB, all 22 KiB, so that later tools fit into 40 KiB", () => {
    expect(JSON.stringify(toolListing("worker")).length).toBeLessThanOrEqual(10 * 1024);
    expect(JSON.stringify(toolListing("all")).length).toBeLessThanOrEqual(22 * 1024);
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
    for (const tool of toolListing("all")) {
      expect(tool.description.length, tool.name).toBeLessThanOrEqual(500);
      expect(tool.title, tool.name).not.toBe("");
      expect(Object.keys(tool.annotations).toSorted()).toEqual(["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"]);
    }
  });

  it("offers a field that is accepted silently to nobody", () => {
    expect(JSON.stringify(toolListing("all"))).not.toContain("agentId");
  });

  it("has the version that heads its changelog", () => {
    expect(TOOL_SURFACE_CHANGELOG[0]?.version).toBe(TOOL_SURFACE_VERSION);
  });
});
