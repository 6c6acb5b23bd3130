import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, actor, key } from "./workbench.ts";

describeEachDatabase("updating items", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });

  it("merges the given fields, clears with null, and raises version and time", async () => {
    const id = await bench.item("old", {
      description: "text",
      complexity: 4,
      tags: "a",
      metadata: "m",
      type: "bug",
    });
    const before = await bench.content(id);
    const { items } = await bench.updateItems([
      {
        itemId: id,
        title: "new",
        description: null,
        complexity: null,
        tags: "b,c",
        type: null,
        statusLabel: "soon",
      },
    ]);
    expect(items[0]).toMatchObject({ id, version: 2 });
    const after = await bench.content(id);
    expect(after).toMatchObject({
      title: "new",
      description: null,
      complexity: null,
      tags: ["b", "c"],
      metadata: "m",
      type: null,
    });
    expect((after["modified_at"] as Date).getTime()).toBeGreaterThan(
      (before["modified_at"] as Date).getTime(),
    );
    expect(await bench.drift()).toEqual([]);
  });

  it("applies every field it accepts, in the element and as shared default [S26] [B78]", async () => {
    const values: Record<string, unknown> = {
      title: "t",
      summary: "s",
      description: "d",
      priority: "high",
      complexity: 7,
      tags: "x",
      type: "bug",
      traits: "fast",
      needs: "gpu",
      assignee: "ann",
      metadata: "m",
      properties: { a: 1 },
      requiresVerification: true,
    };
    for (const [field, value] of Object.entries(values)) {
      const id = await bench.item("plain");
      const before = await bench.content(id);
      expect(await bench.updateItems([{ itemId: id, [field]: value }])).toMatchObject({
        updated: 1,
        failed: 0,
      });
      const after = await bench.content(id);
      const changed = Object.keys(after).filter(
        (name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]),
      );
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
    await expect(bench.updateItems([{ itemId: id, role: "work" }])).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
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
    expect(
      await bench.updateItems([{ itemId: id, title: "by a planner" }], { actor: actor("bob") }),
    ).toMatchObject({ updated: 1 });
    expect(
      await bench.updateItems([{ itemId: id, title: "mine", fence }], {
        actor: actor("ann"),
        workerId: "s1",
      }),
    ).toMatchObject({ updated: 1 });
    await bench.expire(id);
    const late = await bench.updateItems(
      [
        { itemId: id, title: "late" },
        { itemId: id, title: "late", fence },
      ],
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
