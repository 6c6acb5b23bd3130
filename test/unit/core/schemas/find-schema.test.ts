import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { findSchema } from "../../../../services/core/schemas/find-schema.ts";
import { keysOf, layers, schemaOf, types } from "./layers.ts";

describe("which schema an item has", () => {
  it("its type decides before its tags, by exact name", () => {
    const between = layers(null, types("global", "task", "bug"));
    expect(keysOf(schemaOf(between, { type: "task", tags: ["bug"] }))).toEqual(["global-task"]);
    expect(schemaOf(between, { type: "Task" }).matched).toBe(false);
  });

  it("without a type the first of its tags that is defined does", () => {
    const between = layers(null, types("global", "task", "bug"));
    expect(schemaOf(between, { tags: ["urgent", "bug", "task"] })).toMatchObject({
      type: "bug",
      source: "global",
    });
  });

  it("a type that is not defined falls back to the tags, and nothing at all leaves it free", () => {
    const between = layers(null, types("global", "bug"));
    expect(schemaOf(between, { type: "epic", tags: ["bug"] }).type).toBe("bug");
    expect(schemaOf(between, { type: "epic" })).toMatchObject({ matched: false, type: null, source: "none" });
  });

  it("an empty default of a project opts out of the server's for all types that it does not define [B83]", () => {
    const root = { work_item_schemas: { default: { notes: [] }, bug: { notes: [] } } };
    const between = layers(root, types("global", "task", "default"));
    for (const item of [{ type: "task" }, { type: "epic" }, { tags: ["task"] }, {}]) {
      expect(schemaOf(between, item)).toMatchObject({ type: "default", source: "root", notes: [] });
    }
    expect(schemaOf(between, { type: "bug" })).toMatchObject({ type: "bug", source: "root" });
  });

  const MODES = [
    ["legacy", ["root-task", "root-default", "root-default", "root-default"]],
    ["layered", ["root-task", "global-epic", "root-default", "root-default"]],
    ["isolated", ["root-task", "root-default", "root-default", "root-default"]],
  ] as const;

  it.each(MODES)("%s searches both texts in its order", (mode, expected) => {
    const root = { schema_resolution: mode, ...types("root", "task", "default") };
    const between = layers(root, types("global", "task", "epic", "default"));
    const asked = [{ type: "task" }, { type: "epic" }, { type: "other" }, {}];
    expect(asked.map((item) => keysOf(schemaOf(between, item))[0])).toEqual(expected);
    const byTag = [{ tags: ["task"] }, { tags: ["epic"] }, { tags: ["other"] }];
    expect(byTag.map((item) => keysOf(schemaOf(between, item))[0])).toEqual(expected.slice(0, 3));
  });

  it("isolated never looks at the server's text, even if the project's has nothing", () => {
    const between = layers({ schema_resolution: "isolated" }, types("global", "task", "default"));
    expect(schemaOf(between, { type: "task", tags: ["task"] }).matched).toBe(false);
  });

  it("the project's mode counts before the server's, and isolated means layered for the server", () => {
    const global = { schema_resolution: "isolated", ...types("global", "epic", "default") };
    const root = types("root", "default");
    expect(keysOf(schemaOf(layers(root, global), { type: "epic" }))).toEqual(["global-epic"]);
    expect(
      keysOf(schemaOf(layers({ ...root, schema_resolution: "legacy" }, global), { type: "epic" })),
    ).toEqual(["root-default"]);
    expect(keysOf(schemaOf(layers(null, global), { type: "other" }))).toEqual(["global-default"]);
  });

  it("types and tags written the old way count together with the new, which wins", () => {
    const both = {
      ...types("new", "task"),
      note_schemas: { task: [{ key: "old", role: "work" }], chore: [{ key: "old", role: "queue" }] },
    };
    const between = layers(null, both);
    expect(keysOf(schemaOf(between, { tags: ["task"] }))).toEqual(["new-task"]);
    expect(keysOf(schemaOf(between, { tags: ["chore"] }))).toEqual(["old"]);
  });

  const NAMES = ["task", "bug", "epic", "default", "constructor", "__proto__"];
  const names = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 6 });
  const item = fc.record({
    type: fc.option(fc.constantFrom(...NAMES, "other")),
    tags: fc.uniqueArray(fc.constantFrom(...NAMES, "other"), { maxLength: 3 }),
  });

  it("an exact match in the project always wins, and a default never stands before an exact one of its own text", () => {
    fc.assert(
      fc.property(
        names,
        names,
        fc.constantFrom("legacy", "layered", "isolated"),
        item,
        (inRoot, inGlobal, mode, subject) => {
          const root = { schema_resolution: mode, ...types("root", ...inRoot) };
          const between = layers(root, types("global", ...inGlobal));
          const found = findSchema(between, subject);
          if (subject.type !== null && between.root?.schemas.has(subject.type) === true)
            expect(found).toMatchObject({ name: subject.type, source: "root" });
          if (found === null) {
            expect(between.root?.schemas.has("default")).toBe(false);
            if (mode !== "isolated") expect(between.global.schemas.has("default")).toBe(false);
          }
          if (found?.source === "global") expect(mode).not.toBe("isolated");
          if (found !== null && found.name !== "default")
            expect([subject.type, ...subject.tags]).toContain(found.name);
        },
      ),
    );
  });
});
