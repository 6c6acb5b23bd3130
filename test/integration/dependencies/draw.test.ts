import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, actor, key } from "../items/workbench.ts";

describeEachDatabase("drawing dependencies", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });
  const items = async (...titles: string[]): Promise<string[]> => {
    const made = await bench.createItems(titles.map((title) => ({ title })));
    return made.items.map((item) => item.id);
  };

  it("holds the blocked item up until its blocker is done, and counts it [B16]", async () => {
    const [a = "", b = ""] = await items("A", "B");
    const { dependencies, created, failed } = await bench.draw([{ fromItemId: a, toItemId: b }]);
    expect({ created, failed }).toEqual({ created: 1, failed: 0 });
    expect(dependencies).toEqual([
      { id: expect.any(String) as unknown, fromItemId: a, toItemId: b, type: "BLOCKS" },
    ]);
    expect(await bench.advance(b, "start")).toMatchObject({
      applied: false,
      errorCode: "dependency_blocked",
    });
    expect(await bench.state(b)).toMatchObject({ blockers: 1 });
    await bench.advance(a, "complete");
    expect(await bench.state(b)).toMatchObject({ blockers: 0 });
    expect(await bench.advance(b, "start")).toMatchObject({ applied: true });
  });

  it("counts an edge by its threshold from the start: one that is satisfied holds nothing up [B17]", async () => {
    const [a = "", b = "", c = ""] = await items("A", "B", "C");
    await bench.advance(a, "start");
    await bench.draw([
      { fromItemId: a, toItemId: b, unblockAt: "work" },
      { fromItemId: a, toItemId: c, unblockAt: "review" },
    ]);
    expect([(await bench.state(b)).blockers, (await bench.state(c)).blockers]).toEqual([0, 1]);
    await bench.advance(a, "block");
    expect((await bench.state(b)).blockers).toBe(1);
    await bench.advance(a, "resume");
    expect((await bench.state(b)).blockers).toBe(0);
    expect(await bench.drift()).toEqual([]);
  });

  it("stores 'is blocked by' as the edge it restates [B18] [B21]", async () => {
    const [a = "", b = ""] = await items("A", "B");
    const { dependencies } = await bench.draw([{ fromItemId: b, toItemId: a, type: "IS_BLOCKED_BY" }]);
    expect(dependencies).toMatchObject([{ fromItemId: a, toItemId: b, type: "BLOCKS" }]);
    const again = await bench.draw([{ fromItemId: a, toItemId: b }]);
    expect(again).toMatchObject({ created: 0, failures: [{ index: 0, errorCode: "CONFLICT_ERROR" }] });
    const restated = await bench.draw([{ fromItemId: b, toItemId: a, type: "is-blocked-by" }]);
    expect(restated).toMatchObject({ created: 0, failures: [{ errorCode: "CONFLICT_ERROR" }] });
    expect((await bench.state(b)).blockers).toBe(1);
  });

  it("relates without blocking: no threshold, no cycle, no second relation the other way round [B19]", async () => {
    const [a = "", b = ""] = await items("A", "B");
    await expect(
      bench.draw([{ fromItemId: a, toItemId: b, type: "RELATES_TO", unblockAt: "work" }]),
    ).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await bench.draw([{ fromItemId: a, toItemId: b }]);
    expect(await bench.draw([{ fromItemId: b, toItemId: a, type: "RELATES_TO" }])).toMatchObject({
      created: 1,
    });
    const twice = await bench.draw([{ fromItemId: a, toItemId: b, type: "RELATES_TO" }]);
    expect(twice.failures).toMatchObject([{ errorCode: "CONFLICT_ERROR" }]);
    expect(await bench.state(a)).toMatchObject({ blockers: 0 });
  });

  it("takes a threshold in any case [B20]", async () => {
    const [a = "", b = ""] = await items("A", "B");
    const { dependencies } = await bench.draw([{ fromItemId: a, toItemId: b, unblockAt: "Work" }]);
    expect(dependencies).toMatchObject([{ unblockAt: "work" }]);
  });

  it("refuses the edge that closes a cycle and names the items along it [B21] [S31]", async () => {
    const [a = "", b = "", c = ""] = await items("A", "B", "C");
    await bench.draw([
      { fromItemId: a, toItemId: b },
      { fromItemId: b, toItemId: c },
    ]);
    const { failures } = await bench.draw([{ fromItemId: c, toItemId: a }]);
    expect(failures).toMatchObject([
      {
        errorCode: "cycle_detected",
        details: {
          path: [
            { id: c, title: "C" },
            { id: a, title: "A" },
            { id: b, title: "B" },
            { id: c, title: "C" },
          ],
        },
      },
    ]);
    expect(failures?.[0]?.error).toContain(a);
    expect((await bench.state(a)).blockers).toBe(0);
  });

  it("finds cycles that run through containment [S31]", async () => {
    const parent = await bench.item("parent");
    const child = await bench.item("child", { parentId: parent });
    const [other = ""] = await items("other");
    for (const edge of [
      { fromItemId: parent, toItemId: child },
      { fromItemId: child, toItemId: parent },
    ]) {
      expect((await bench.draw([edge])).failures).toMatchObject([{ errorCode: "cycle_detected" }]);
    }
    await bench.draw([{ fromItemId: other, toItemId: parent }]);
    expect((await bench.draw([{ fromItemId: child, toItemId: other }])).failures).toMatchObject([
      { errorCode: "cycle_detected" },
    ]);
  });

  it("draws nothing of a batch whose third edge closes a cycle [B22]", async () => {
    const [a = "", b = "", c = ""] = await items("A", "B", "C");
    const result = await bench.draw([
      { fromItemId: a, toItemId: b },
      { fromItemId: b, toItemId: c },
      { fromItemId: c, toItemId: a },
    ]);
    expect(result).toMatchObject({
      dependencies: [],
      created: 0,
      failed: 1,
      failures: [{ index: 2, errorCode: "cycle_detected" }],
    });
    expect((await bench.edges()).filter((edge) => [a, b, c].includes(edge.from))).toEqual([]);
    expect(await bench.drift()).toEqual([]);
  });

  it("draws patterns, and refuses those that make no sense [B23]", async () => {
    const [a = "", b = "", c = ""] = await items("A", "B", "C");
    expect(await bench.drawPattern({ pattern: "linear", itemIds: [a, b, c] })).toMatchObject({ created: 2 });
    expect(await bench.drawPattern({ pattern: "fan-out", fromItemId: a, toItemIds: [c] })).toMatchObject({
      created: 1,
    });
    await expect(bench.drawPattern({ pattern: "linear", itemIds: [a] })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    const self = await bench.drawPattern({ pattern: "fan-out", fromItemId: b, toItemIds: [b, c] });
    expect(self).toMatchObject({ created: 0 });
    expect(self.failures).toMatchObject([
      { index: 0, errorCode: "validation_failed" },
      { index: 1, errorCode: "CONFLICT_ERROR" },
    ]);
  });

  it("lets a cancelled blocker hold or let go, as the edge says [B25]", async () => {
    const [a = "", held = "", free = "", late = ""] = await items("A", "held", "free", "late");
    await bench.draw([
      { fromItemId: a, toItemId: held, onCancelled: "hold" },
      { fromItemId: a, toItemId: free, onCancelled: "release" },
    ]);
    await bench.advance(a, "cancel");
    expect([(await bench.state(held)).blockers, (await bench.state(free)).blockers]).toEqual([1, 0]);
    // Drawn after the fact, an edge counts the same.
    await bench.draw([{ fromItemId: a, toItemId: late }]);
    expect((await bench.state(late)).blockers).toBe(1);
    expect(await bench.drift()).toEqual([]);
  });

  it("tells everything below a blocked container, and many containers at once", async () => {
    const [blocker = ""] = await items("blocker");
    const leaves: string[] = [];
    const containers: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      const container = await bench.item(`container ${n}`);
      const middle = await bench.item("middle", { parentId: container });
      leaves.push(await bench.item("leaf", { parentId: middle }));
      containers.push(container);
    }
    await bench.drawPattern({ pattern: "fan-out", fromItemId: blocker, toItemIds: containers });
    const above = async () =>
      await Promise.all(leaves.map(async (leaf) => (await bench.state(leaf)).ancestor_blockers));
    expect(new Set(await above())).toEqual(new Set([1]));
    // A new leaf below counts what is above it.
    const late = await bench.item("late", { parentId: leaves[0] });
    expect((await bench.state(late)).ancestor_blockers).toBe(1);
    expect(await bench.advance(blocker, "complete")).toMatchObject({ applied: true });
    expect(new Set(await above())).toEqual(new Set([0]));
    expect(await bench.drift()).toEqual([]);
  });

  it("takes prefixes, answers full ids, and refuses an unknown item", async () => {
    const [a = "", b = ""] = await items("A", "B");
    const short = (id: string) => id.replaceAll("-", "").slice(0, 24);
    const { dependencies } = await bench.draw([{ fromItemId: short(a), toItemId: short(b) }]);
    expect(dependencies).toMatchObject([{ fromItemId: a, toItemId: b }]);
    expect((await bench.draw([{ fromItemId: a, toItemId: key() }])).failures).toMatchObject([
      { errorCode: "RESOURCE_NOT_FOUND" },
    ]);
  });

  it("allows a new blocker in front of an item that somebody works on", async () => {
    const [a = "", b = ""] = await items("A", "B");
    await bench.claim(b, { agent: "ann", session: "s1" });
    await bench.advance(b, "start", { actor: actor("ann"), workerId: "s1" });
    expect(await bench.draw([{ fromItemId: a, toItemId: b }], { actor: actor("bob") })).toMatchObject({
      created: 1,
    });
    expect(await bench.state(b)).toMatchObject({ blockers: 1, role: "work" });
  });

  it("refuses a displaced holder's edges on either end, drawn or erased", async () => {
    const [a = "", b = "", c = ""] = await items("A", "B", "C");
    await bench.draw([{ fromItemId: a, toItemId: b }]);
    await bench.claim(a, { agent: "ann", session: "s1" });
    await bench.expire(a);
    const who = { actor: actor("ann"), workerId: "s1" };
    expect(await bench.draw([{ fromItemId: c, toItemId: a }], who)).toMatchObject({
      created: 0,
      failures: [{ errorCode: "claim_lost" }],
    });
    await expect(bench.erase({ fromItemId: a, toItemId: b, ...who })).rejects.toMatchObject({
      code: "claim_lost",
    });
    expect(await bench.erase({ fromItemId: a, toItemId: b, actor: actor("bob") })).toMatchObject({
      deleted: 1,
    });
  });

  it("stops at 500 edges per item", async () => {
    const [hub = ""] = await items("hub");
    for (let batch = 0; batch < 5; batch += 1) {
      const spokes = await items(...Array.from({ length: 100 }, (_, n) => `spoke ${n}`));
      expect(
        await bench.drawPattern({ pattern: "fan-out", fromItemId: hub, toItemIds: spokes }),
      ).toMatchObject({ created: 100 });
    }
    const [more = ""] = await items("one more");
    expect((await bench.draw([{ fromItemId: more, toItemId: hub }])).failures).toMatchObject([
      { errorCode: "limit_exceeded" },
    ]);
  });

  it("replays a batch, forgets a refused one, and says when what it made is gone [B54] [B56]", async () => {
    const [a = "", b = "", c = ""] = await items("A", "B", "C");
    const requestId = key();
    const first = await bench.draw([{ fromItemId: a, toItemId: b }], { requestId });
    expect(await bench.draw([{ fromItemId: a, toItemId: b }], { requestId })).toEqual({
      ...first,
      replayed: true,
    });
    await expect(bench.draw([{ fromItemId: a, toItemId: c }], { requestId })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    const other = key();
    const closing = () => bench.draw([{ fromItemId: b, toItemId: a }], { requestId: other });
    expect(await closing()).toMatchObject({ created: 0 });
    await bench.erase({ fromItemId: a, toItemId: b });
    expect(await closing()).toMatchObject({ created: 1 });
    await expect(bench.draw([{ fromItemId: a, toItemId: b }], { requestId })).rejects.toMatchObject({
      code: "idempotency_target_gone",
    });
  });
});
