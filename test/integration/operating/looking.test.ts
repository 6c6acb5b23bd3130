/** Attempts and trash, as operators look at them. */
import { expect, it } from "vitest";
import { worker } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";
import { describeDesk, olga } from "./desk.ts";

describeDesk("what operators look at", (desk) => {
  it("lists the attempts of an item, newest first, whole sessions withheld", async () => {
    const itemId = await plantItem(desk().database.db);
    const session = "a-session-that-is-nobody-elses-business";
    await desk().claim("ada", { itemId, start: true }, { workerId: session });
    await desk().ask("advance_item", {
      actor: worker("ada"),
      workerId: session,
      transitions: [{ itemId, trigger: "fail", reason: "no disk", class: "environment" }],
    });
    await desk().database.advance(3_600_000);
    await desk().claim("bob", { itemId });
    const { attempts, ...page } = await desk().ask("list_attempts", { itemId: itemId.slice(0, 8) });
    expect(page).toEqual({ itemId, total: 2, hasMore: false, limit: 50, offset: 0 });
    expect(attempts).toMatchObject([
      { agent: "bob", fence: 3 },
      { agent: "ada", fence: 1, endReason: "failed" },
    ]);
    expect(attempts[0]).not.toHaveProperty("endedAt");
    expect(JSON.stringify(attempts)).not.toContain(session);
    expect(await desk().ask("list_attempts", { itemId, limit: 1, offset: 1 })).toMatchObject({
      attempts: [{ agent: "ada" }],
      total: 2,
      hasMore: false,
    });
  });

  it("knows no attempts of an item that does not exist", async () => {
    await expect(
      desk().ask("list_attempts", { itemId: "11111111-1111-4111-8111-111111111111" }),
    ).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
  });

  it("lists what was deleted until it is restored or its time is up [P-41]", async () => {
    const { db } = desk().database;
    const root = await plantItem(db, { title: "root" });
    const child = await plantItem(db, { title: "child", parentId: root });
    await plantItem(db, { title: "grandchild", parentId: child });
    const other = await plantItem(db, { title: "other" });
    await desk().ask("manage_items", {
      operation: "delete",
      itemIds: [child],
      recursive: true,
      actor: olga,
    });
    await desk().database.advance(1_000);
    await desk().ask("manage_items", { operation: "delete", itemIds: [other] });
    const { entries, total } = await desk().ask("list_trash", {});
    expect(total).toBe(2);
    expect(entries).toMatchObject([
      { itemId: other, title: "other", items: 1 },
      { itemId: child, rootId: root, title: "child", items: 2, deletedBy: "olga" },
    ]);
    const trashId = entries[1]?.trashId ?? "";
    expect(await desk().ask("list_trash", { rootId: root })).toMatchObject({
      total: 1,
      entries: [{ trashId }],
    });
    await desk().ask("manage_items", { operation: "restore", trashIds: [trashId] });
    expect(await desk().ask("list_trash", {})).toMatchObject({ total: 1, entries: [{ itemId: other }] });
    expect(await desk().ask("list_trash", { restored: true })).toMatchObject({ total: 2 });
    await desk().database.advance(30 * 86_400_000);
    expect(await desk().ask("list_trash", { restored: true })).toMatchObject({ total: 0, entries: [] });
  });
});
