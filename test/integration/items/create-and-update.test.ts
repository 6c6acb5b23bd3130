import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, actor, key } from "./workbench.ts";

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
    expect(items[1]).toMatchObject({ title: "two", depth: 1, role: "queue", parentId: root, rootId: root, version: 1 });
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
      message: expect.stringContaining("role"),
    });
    await expect(bench.item("sneaky", { colour: "red" })).rejects.toMatchObject({
      message: expect.stringContaining("colour"),
    });
    const made = await bench.deps.db.selectFrom("items").select("id").where("title", "=", "sneaky").execute();
    expect(made).toEqual([]);
  });

  it("refuses a new child under a closed parent and says how to reopen it; the other elements are made [B32]", async () => {
    const parent = await bench.item("closed");
    await bench.advance(parent, "complete");
    const { created, failures } = await bench.createItems([{ title: "late", parentId: parent }, { title: "free" }]);
    expect(created).toBe(1);
    expect(failures).toMatchObject([{ index: 0, errorCode: "parent_closed", hint: expect.stringContaining("eopen") }]);
    expect(await bench.drift()).toEqual([]);
  });

  it("accepts a prefix of the parent's id and refuses an ambiguous one with its matches [B79]", async () => {
    const parent = await bench.item("by prefix");
    const child = await bench.createItems([{ title: "child", parentId: parent.replaceAll("-", "").slice(0, 20) }]);
    expect(child.items[0]?.parentId).toBe(parent);
    const twin = `abcd${parent.slice(4, 35)}`;
    for (const last of ["1", "2"]) {
      await bench.deps.db
        .insertInto("items")
        .values({ id: `${twin}${last}`, root_id: `${twin}${last}`, parent_id: null, ancestors: [], depth: 0, title: last, description: null, type: null, tags: [], traits: [], needs: [], assignee: null, metadata: null, priority: "low", complexity: null, requires_verification: false, properties: null, created_by: null, modified_by: null })
        .execute();
    }
    const { failures } = await bench.createItems([{ title: "child", parentId: "abcd" }]);
    expect(failures).toMatchObject([{ errorCode: "ambiguous_id", details: { prefix: "abcd" } }]);
    expect((failures?.[0]?.details?.["matches"] as unknown[]).length).toBe(2);
    await expect(bench.item("x", { parentId: "abc" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await bench.deps.db.deleteFrom("items").where("title", "in", ["1", "2"]).execute();
  });

  it("makes a tree 65 levels deep and not deeper", async () => {
    let parent = await bench.item("level 0");
    for (let level = 1; level <= 64; level += 1) parent = await bench.item(`level ${level}`, { parentId: parent });
    const { failures } = await bench.createItems([{ title: "level 65", parentId: parent }]);
    expect(failures).toMatchObject([{ errorCode: "limit_exceeded" }]);
  });

  it("lets one element fail on text that cannot be stored, and makes the others", async () => {
    const { created, failures } = await bench.createItems([{ title: "good" }, { title: "bad\u0000" }, { title: "fine" }]);
    expect(created).toBe(2);
    expect(failures).toMatchObject([{ index: 1, errorCode: "validation_failed" }]);
  });

  it("refuses a child made by a displaced holder of the parent", async () => {
    const parent = await bench.item("lost");
    await bench.claim(parent, { agent: "ann", session: "s1" });
    await bench.expire(parent);
    const late = await bench.createItems([{ title: "late", parentId: parent }], { actor: actor("ann"), workerId: "s1" });
    expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }]);
    const other = await bench.createItems([{ title: "ok", parentId: parent }], { actor: actor("bob"), workerId: "s2" });
    expect(other.created).toBe(1);
  });
});

describeEachDatabase("creating items again", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });
  const count = async (title: string): Promise<number> =>
    (await bench.deps.db.selectFrom("items").select("id").where("title", "=", title).execute()).length;

  it("answers the same items for the same requestId, and marks them [B54] [P-23]", async () => {
    const requestId = key();
    const first = await bench.createItems([{ title: "once" }, { title: "once" }], { requestId, actor: actor("ann") });
    const second = await bench.createItems([{ title: "once" }, { title: "once" }], { requestId, actor: actor("ann") });
    expect(second.items).toEqual(first.items.map((item) => ({ ...item, replayed: true })));
    expect(await count("once")).toBe(2);
  });

  it("refuses the requestId for another input or another tool and does nothing [B55] [P-23]", async () => {
    const requestId = key();
    const root = await bench.item("first use", { priority: "low" });
    await bench.createItems([{ title: "used" }], { requestId });
    await expect(bench.createItems([{ title: "unused" }], { requestId })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    await expect(bench.updateItems([{ itemId: root, title: "changed" }], { requestId })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    await expect(
      bench.draw([{ fromItemId: root, toItemId: root }], { requestId }),
    ).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await count("unused")).toBe(0);
    expect(await bench.content(root)).toMatchObject({ title: "first use", version: 1 });
  });

  it("tries again with the same requestId what was refused for the state of things [B56]", async () => {
    const requestId = key();
    const parent = await bench.item("closed for now");
    await bench.advance(parent, "complete");
    const call = () => bench.createItems([{ title: "ok" }, { title: "later", parentId: parent }], { requestId });
    expect(await call()).toMatchObject({ created: 1, failed: 1 });
    await bench.advance(parent, "reopen");
    const again = await call();
    expect(again).toMatchObject({ created: 2, failed: 0 });
    expect(again.items.map((item) => item.replayed)).toEqual([true, undefined]);
    expect(await count("later")).toBe(1);
  });

  it("refuses a malformed requestId [B57]", async () => {
    await expect(bench.createItems([{ title: "x" }], { requestId: "7" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    await expect(bench.draw([], { requestId: "7" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("keeps two principals with one requestId apart [B59]", async () => {
    const requestId = key();
    await bench.createItems([{ title: "ours" }], { requestId, actor: actor("ann") });
    const other = await bench.createItems([{ title: "ours" }], { requestId, actor: actor("bob") });
    expect(other.items[0]?.replayed).toBeUndefined();
    expect(await count("ours")).toBe(2);
  });

  it("says that what it made is gone, and does not make it again [P-24]", async () => {
    const requestId = key();
    const { items } = await bench.createItems([{ title: "gone" }], { requestId });
    await bench.deleteItems([items[0]?.id ?? ""]);
    const again = await bench.createItems([{ title: "gone" }], { requestId });
    expect(again.failures).toMatchObject([{ errorCode: "idempotency_target_gone" }]);
    expect(await count("gone")).toBe(0);
  });

  it("makes one item for two simultaneous calls with one requestId [P-25] [B58]", async () => {
    for (let round = 0; round < 10; round += 1) {
      const requestId = key();
      const calls = await Promise.all(
        [1, 2].map(() => bench.createItems([{ title: `both ${round}` }], { requestId })),
      );
      expect(calls[0]?.items[0]?.id).toBe(calls[1]?.items[0]?.id);
      expect(await count(`both ${round}`)).toBe(1);
    }
  });

  it("answers what was committed when the answer never arrived [P-26]", async () => {
    const requestId = key();
    await bench.createItems([{ title: "committed" }], { requestId });
    // The server that crashed has no memory; another replica has the database.
    const replica = new Workbench(database());
    const again = await replica.createItems([{ title: "committed" }], { requestId });
    expect(again.items[0]).toMatchObject({ title: "committed", replayed: true });
    expect(await count("committed")).toBe(1);
  });
});

describeEachDatabase("updating items", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });

  it("merges the given fields, clears with null, and raises version and time", async () => {
    const id = await bench.item("old", { description: "text", complexity: 4, tags: "a", metadata: "m", type: "bug" });
    const before = await bench.content(id);
    const { items } = await bench.updateItems([
      { itemId: id, title: "new", description: null, complexity: null, tags: "b,c", type: null, statusLabel: "soon" },
    ]);
    expect(items[0]).toMatchObject({ id, version: 2 });
    const after = await bench.content(id);
    expect(after).toMatchObject({ title: "new", description: null, complexity: null, tags: ["b", "c"], metadata: "m", type: null });
    expect((after["modified_at"] as Date).getTime()).toBeGreaterThan((before["modified_at"] as Date).getTime());
    expect(await bench.drift()).toEqual([]);
  });

  it("applies every field it accepts, in the element and as shared default [S26] [B78]", async () => {
    const values: Record<string, unknown> = {
      title: "t", summary: "s", description: "d", priority: "high", complexity: 7, tags: "x", type: "bug",
      traits: "fast", needs: "gpu", assignee: "ann", metadata: "m", properties: { a: 1 }, requiresVerification: true,
    };
    for (const [field, value] of Object.entries(values)) {
      const id = await bench.item("plain");
      const before = await bench.content(id);
      expect(await bench.updateItems([{ itemId: id, [field]: value }])).toMatchObject({ updated: 1, failed: 0 });
      const after = await bench.content(id);
      const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
      const column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect(changed.toSorted()).toEqual([column, "modified_at", "version"].toSorted());
    }
    const id = await bench.item("traits");
    await bench.updateItems([{ itemId: id }], { traits: "shared" });
    expect(await bench.content(id)).toMatchObject({ traits: ["shared"] });
    await bench.updateItems([{ itemId: id, traits: "own" }], { traits: "shared" });
    expect(await bench.content(id)).toMatchObject({ traits: ["own"] });
    await bench.updateItems([{ itemId: id, title: "kept" }]);
    expect(await bench.content(id)).toMatchObject({ traits: ["own"] });
    await bench.updateItems([{ itemId: id, traits: "" }]);
    expect(await bench.content(id)).toMatchObject({ traits: [] });
  });

  it("refuses an element with nothing to change, a role, and an unknown item; updates the others [S26] [B11]", async () => {
    const id = await bench.item("same");
    const missing = key();
    const { updated, failures } = await bench.updateItems([
      { itemId: id },
      { itemId: id, title: "changed" },
      { itemId: missing, title: "nobody" },
    ]);
    expect(updated).toBe(1);
    expect(failures).toMatchObject([
      { index: 0, errorCode: "validation_failed" },
      { index: 2, id: missing, errorCode: "RESOURCE_NOT_FOUND" },
    ]);
    await expect(bench.updateItems([{ itemId: id, role: "work" }])).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect((await bench.state(id)).role).toBe("queue");
  });

  it("refuses an expected version that has passed, naming both [S23]", async () => {
    const id = await bench.item("versioned");
    await bench.updateItems([{ itemId: id, title: "second", expectedVersion: 1 }]);
    const { failures } = await bench.updateItems([{ itemId: id, title: "third", expectedVersion: 1 }]);
    expect(failures).toMatchObject([{ errorCode: "version_conflict", details: { expected: 1, actual: 2 } }]);
    expect(await bench.content(id)).toMatchObject({ title: "second", version: 2 });
  });

  it("lets others edit a held item, and refuses its displaced holder and a stale fence", async () => {
    const id = await bench.item("contended");
    const fence = await bench.claim(id, { agent: "ann", session: "s1" });
    expect(await bench.updateItems([{ itemId: id, title: "by a planner" }], { actor: actor("bob") })).toMatchObject({ updated: 1 });
    expect(await bench.updateItems([{ itemId: id, title: "mine", fence }], { actor: actor("ann"), workerId: "s1" })).toMatchObject({ updated: 1 });
    await bench.expire(id);
    const late = await bench.updateItems(
      [{ itemId: id, title: "late" }, { itemId: id, title: "late", fence }],
      { actor: actor("ann"), workerId: "s1" },
    );
    expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }, { errorCode: "claim_lost" }]);
    expect(await bench.content(id)).toMatchObject({ title: "mine" });
  });

  it("replays an update, and says so when its item is gone [B54] [P-24]", async () => {
    const id = await bench.item("replayed");
    const requestId = key();
    const call = () => bench.updateItems([{ itemId: id, title: "once" }], { requestId });
    const first = await call();
    expect((await call()).items).toEqual(first.items.map((item) => ({ ...item, replayed: true })));
    expect(await bench.content(id)).toMatchObject({ version: 2 });
    await bench.deleteItems([id]);
    expect((await call()).failures).toMatchObject([{ errorCode: "idempotency_target_gone" }]);
  });
});
