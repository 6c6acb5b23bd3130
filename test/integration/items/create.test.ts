import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, actor } from "./workbench.ts";

describeEachDatabase("creating items", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });

  it("makes items under a parent, in role queue, and counts them in the parent", async () => {
    const root = await bench.item("release", { priority: "high", tags: "a, b" });
    const { items, created, failed } = await bench.createItems(
      [{ title: "one" }, { title: "two", complexity: 3, needs: "gpu", assignee: "ann" }],
      { parentId: root, traits: "shared" },
    );
    expect({ created, failed }).toEqual({ created: 2, failed: 0 });
    expect(items[1]).toMatchObject({
      title: "two",
      depth: 1,
      role: "queue",
      parentId: root,
      rootId: root,
      version: 1,
    });
    expect((await bench.state(root)).open_children).toBe(2);
    expect(await bench.content(items[0]?.id ?? "")).toMatchObject({ traits: ["shared"], ancestors: [root] });
    expect(await bench.content(root)).toMatchObject({ tags: ["a", "b"] });
    expect(await bench.drift()).toEqual([]);
  });

  it("keeps the order in which items were listed as their order of age", async () => {
    const titles = Array.from({ length: 20 }, (_, n) => `listed ${n}`);
    await bench.createItems(titles.map((title) => ({ title })));
    const rows = await bench.deps.db
      .selectFrom("items")
      .select("title")
      .where("title", "like", "listed %")
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    expect(rows.map((row) => row.title)).toEqual(titles);
  });

  it("refuses a role on creation, naming the key, and makes nothing [B11] [P-31]", async () => {
    await expect(bench.item("sneaky", { role: "work" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("role") as unknown,
    });
    await expect(bench.item("sneaky", { colour: "red" })).rejects.toMatchObject({
      message: expect.stringContaining("colour") as unknown,
    });
    const made = await bench.deps.db.selectFrom("items").select("id").where("title", "=", "sneaky").execute();
    expect(made).toEqual([]);
  });

  it("refuses a new child under a closed parent and says how to reopen it; the other elements are made [B32]", async () => {
    const parent = await bench.item("closed");
    await bench.advance(parent, "complete");
    const { created, failures } = await bench.createItems([
      { title: "late", parentId: parent },
      { title: "free" },
    ]);
    expect(created).toBe(1);
    expect(failures).toMatchObject([
      { index: 0, errorCode: "parent_closed", hint: expect.stringContaining("eopen") as unknown },
    ]);
    expect(await bench.drift()).toEqual([]);
  });

  it("accepts a prefix of the parent's id and refuses an ambiguous one with its matches [B79]", async () => {
    const parent = await bench.item("by prefix");
    const child = await bench.createItems([
      { title: "child", parentId: parent.replaceAll("-", "").slice(0, 20) },
    ]);
    expect(child.items[0]?.parentId).toBe(parent);
    const twin = `abcd${parent.slice(4, 35)}`;
    for (const last of ["1", "2"]) {
      await bench.deps.db
        .insertInto("items")
        .values({
          id: `${twin}${last}`,
          root_id: `${twin}${last}`,
          parent_id: null,
          ancestors: [],
          depth: 0,
          title: last,
          description: null,
          type: null,
          tags: [],
          traits: [],
          needs: [],
          assignee: null,
          metadata: null,
          priority: "low",
          complexity: null,
          requires_verification: false,
          properties: null,
          created_by: null,
          modified_by: null,
        })
        .execute();
    }
    const { failures } = await bench.createItems([{ title: "child", parentId: "abcd" }]);
    expect(failures).toMatchObject([{ errorCode: "ambiguous_id", details: { prefix: "abcd" } }]);
    expect(failures?.[0]?.details?.["matches"]).toHaveLength(2);
    await expect(bench.item("x", { parentId: "abc" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await bench.deps.db.deleteFrom("items").where("title", "in", ["1", "2"]).execute();
  });

  it("makes a tree 65 levels deep and not deeper", async () => {
    let parent = await bench.item("level 0");
    for (let level = 1; level <= 64; level += 1)
      parent = await bench.item(`level ${level}`, { parentId: parent });
    const { failures } = await bench.createItems([{ title: "level 65", parentId: parent }]);
    expect(failures).toMatchObject([{ errorCode: "limit_exceeded" }]);
  });

  it("lets one element fail on text that cannot be stored, and makes the others", async () => {
    const { created, failures } = await bench.createItems([
      { title: "good" },
      { title: "bad\u0000" },
      { title: "fine" },
    ]);
    expect(created).toBe(2);
    expect(failures).toMatchObject([{ index: 1, errorCode: "validation_failed" }]);
  });

  it("refuses a child made by a displaced holder of the parent", async () => {
    const parent = await bench.item("lost");
    await bench.claim(parent, { agent: "ann", session: "s1" });
    await bench.expire(parent);
    const late = await bench.createItems([{ title: "late", parentId: parent }], {
      actor: actor("ann"),
      workerId: "s1",
    });
    expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }]);
    const other = await bench.createItems([{ title: "ok", parentId: parent }], {
      actor: actor("bob"),
      workerId: "s2",
    });
    expect(other.created).toBe(1);
  });
});
