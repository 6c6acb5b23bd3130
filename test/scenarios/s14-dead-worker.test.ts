/** A worker dies, and no background loop runs anywhere: the next claim finds out by itself. */
import { expect, it } from "vitest";
import { plantItem } from "../support/fixtures.ts";
import { agent, granted, release, tenuresOf } from "../integration/claims/calls.ts";
import { describeEachWay } from "../integration/claims/engines.ts";

const TTL_SECONDS = 60;
const DEAD = agent("gone");
const NEXT = agent("next");

describeEachWay("a worker that died while every sweep sleeps", (bench) => {
  it.each(["queue", "work"] as const)(
    "leaves an item in %s that a selector claims after the ttl [S14]",
    async (role) => {
      const { database, engine } = bench();
      const root = await plantItem(database.db, { role: "work" });
      const itemId = await plantItem(database.db, { parentId: root });
      await granted(engine, DEAD, { itemId, ttlSeconds: TTL_SECONDS, start: role === "work" });
      await database.advance(TTL_SECONDS * 1000 + 1);
      const claimed = await granted(engine, NEXT, { selector: { ancestorId: root } });
      expect(claimed).toMatchObject({ itemId, item: { role: "queue" } });
      expect(await tenuresOf(database.db, itemId)).toEqual(["gone-1: expired", "next-1: open"]);
      await release(engine, NEXT, { itemId });
    },
  );

  it("leaves an item that is claimed by its id after the ttl [S14]", async () => {
    const { database, engine } = bench();
    const itemId = await plantItem(database.db);
    await granted(engine, DEAD, { itemId, ttlSeconds: TTL_SECONDS, start: true });
    await database.advance(TTL_SECONDS * 1000 + 1);
    expect(await granted(engine, NEXT, { itemId })).toMatchObject({ itemId, attempt: 2 });
    await release(engine, NEXT, { itemId });
  });

  it("is shown as expired to whoever lists the claims [S14]", async () => {
    const { database, engine } = bench();
    const itemId = await plantItem(database.db);
    await granted(engine, DEAD, { itemId, ttlSeconds: TTL_SECONDS });
    await database.advance(TTL_SECONDS * 1000 + 1);
    const { claims } = (await engine.call("list_claims", { lapsed: true })) as { claims: unknown[] };
    expect(claims).toContainEqual(expect.objectContaining({ itemId, lapsed: true }));
    await release(engine, DEAD, { itemId });
  });

  it("stands above items of others with the claim on their container, and that is freed as well [S14]", async () => {
    const { database, engine } = bench();
    const root = await plantItem(database.db, { role: "work" });
    const itemId = await plantItem(database.db, { parentId: root });
    await granted(engine, DEAD, { itemId: root, ttlSeconds: TTL_SECONDS });
    await database.advance(TTL_SECONDS * 1000 + 1);
    expect(await granted(engine, NEXT, { selector: { ancestorId: root } })).toMatchObject({ itemId });
    await release(engine, NEXT, { itemId });
  });
});
