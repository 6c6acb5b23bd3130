/** Items whose attempts are used up: for people to replay or discard. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { worker } from "../../support/engine.ts";
import { plantEdge, plantItem } from "../../support/fixtures.ts";
import { describeDesk } from "./desk.ts";

describeDesk("dead items", (desk) => {
  /** Failed until it is dead. */
  const die = async (title: string, parentId: string | null = null): Promise<string> => {
    const { db } = desk().database;
    const itemId = await plantItem(db, { title, parentId });
    for (let failures = 0; failures < 5; failures += 1) {
      await desk().claim("ada", { itemId, start: true });
      await desk().advance({ itemId, trigger: "fail", reason: "it burns" }, "ada");
      await desk().database.advance(3_600_000);
    }
    return itemId;
  };
  const settled = async (itemId: string) => {
    const { role, attempts = 0, dead = false, outcome } = await desk().get(itemId);
    return { role, attempts, dead, outcome };
  };

  it("are listed, the latest first, with how the last attempt ended; a filter narrows", async () => {
    const root = await plantItem(desk().database.db, { title: "root" });
    const [first, second] = [await die("first"), await die("second", root)];
    const listed = await desk().ask("list_dead", {});
    expect(listed).toMatchObject({
      total: 2,
      hasMore: false,
      items: [
        { itemId: second, title: "second", rootId: root, attempts: 5, lastEndReason: "failed" },
        { itemId: first, statusLabel: "dead" },
      ],
    });
    expect(await desk().ask("list_dead", { ancestorId: root })).toMatchObject({
      total: 1,
      items: [{ itemId: second }],
    });
    expect(await desk().ask("list_dead", { limit: 1, offset: 1 })).toMatchObject({
      total: 2,
      items: [{ itemId: first }],
    });
  });

  it("replayed, they stand in the queue with nothing counted against them, and are offered [P-38]", async () => {
    const itemId = await die("again");
    expect(await desk().advance({ itemId, trigger: "resume" }, "ada")).toMatchObject({
      applied: false,
      errorCode: "item_dead",
    });
    expect(await desk().operate("replay_dead", { itemIds: [itemId], reason: "fixed" })).toEqual({
      items: [{ itemId, title: "again", role: "queue" }],
      matched: 1,
      failed: 0,
      hasMore: false,
    });
    expect(await settled(itemId)).toMatchObject({ role: "queue", attempts: 0, dead: false });
    expect(await desk().claim("bob", { selector: {} })).toMatchObject({ itemId, attempt: 1 });
    const audit = await desk()
      .database.db.selectFrom("audit_log")
      .select(["action", "agent", "data"])
      .where("item_id", "=", itemId)
      .where("action", "=", "item.replayed")
      .execute();
    expect(audit).toEqual([
      { action: "item.replayed", agent: "olga", data: { reason: "fixed", attempts: 5 } },
    ]);
  });

  it("discarded, they are cancelled, and what waits for them is judged by its edge", async () => {
    const { db } = desk().database;
    const itemId = await die("given up");
    const waiting = await plantItem(db, { title: "waiting" });
    await plantEdge(db, itemId, waiting, { onCancelled: "release" });
    expect(await desk().operate("discard_dead", { itemIds: [itemId] })).toMatchObject({
      items: [{ itemId, role: "terminal" }],
    });
    expect(await settled(itemId)).toMatchObject({ role: "terminal", dead: false, outcome: "cancelled" });
    expect(await desk().explain(waiting)).toMatchObject({ offered: true });
  });

  it("in bulk: counted first, then all of them, one that is alive failing by itself", async () => {
    const root = await plantItem(desk().database.db, { title: "root" });
    const [one, two, other] = [await die("one", root), await die("two", root), await die("other")];
    expect(await desk().operate("replay_dead", { ancestorId: root, dryRun: true })).toMatchObject({
      matched: 2,
      items: [],
      dryRun: true,
    });
    expect(await settled(one)).toMatchObject({ dead: true });
    const requestId = randomUUID();
    const done = await desk().operate("replay_dead", { ancestorId: root, requestId });
    expect(done).toMatchObject({ matched: 2, failed: 0 });
    expect(done.items.map((item) => item.itemId).toSorted()).toEqual([one, two].toSorted());
    expect(await desk().operate("replay_dead", { ancestorId: root, requestId })).toEqual({
      ...done,
      replayed: true,
    });
    expect(await desk().operate("discard_dead", { itemIds: [one, other] })).toMatchObject({
      failed: 1,
      failures: [{ index: 0, errorCode: "CONFLICT_ERROR" }],
      items: [{ itemId: other }],
    });
  });

  it("only a person decides: a program is refused, whatever it may do otherwise", async () => {
    const itemId = await die("not for programs");
    for (const name of ["replay_dead", "discard_dead"] as const) {
      await expect(
        desk().ask(name, { itemIds: [itemId], reason: "automatic", actor: worker("robot") }),
      ).rejects.toMatchObject({ code: "insufficient_capability" });
    }
    expect(await settled(itemId)).toMatchObject({ dead: true, attempts: 5 });
  });
});
