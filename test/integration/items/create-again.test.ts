import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, actor, key } from "./workbench.ts";

describeEachDatabase("creating items again", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });
  const count = async (title: string): Promise<number> =>
    (await bench.deps.db.selectFrom("items").select("id").where("title", "=", title).execute()).length;

  it("answers the same items for the same requestId, and marks them [B54] [P-23]", async () => {
    const requestId = key();
    const first = await bench.createItems([{ title: "once" }, { title: "once" }], {
      requestId,
      actor: actor("ann"),
    });
    const second = await bench.createItems([{ title: "once" }, { title: "once" }], {
      requestId,
      actor: actor("ann"),
    });
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
    await expect(
      bench.updateItems([{ itemId: root, title: "changed" }], { requestId }),
    ).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    await expect(bench.draw([{ fromItemId: root, toItemId: root }], { requestId })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    expect(await count("unused")).toBe(0);
    expect(await bench.content(root)).toMatchObject({ title: "first use", version: 1 });
  });

  it("tries again with the same requestId what was refused for the state of things [B56]", async () => {
    const requestId = key();
    const parent = await bench.item("closed for now");
    await bench.advance(parent, "complete");
    const call = () =>
      bench.createItems([{ title: "ok" }, { title: "later", parentId: parent }], { requestId });
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
