/** A worker is silent inside one call of 20 minutes while others recover what is lost. */
import { expect, it } from "vitest";
import { plantItem } from "../support/fixtures.ts";
import { advance, agent, granted, refused, refresh, stateOf } from "../integration/claims/calls.ts";
import { describeEachWay } from "../integration/claims/engines.ts";

const SILENT_MS = 1_200_000;

describeEachWay("long silent work", (bench) => {
  it("is covered by the ttl that was asked for at the claim; a recovery takes only what really lapsed [S17]", async () => {
    const { database, engine } = bench();
    const [covered, healthy, lost] = [agent("covered"), agent("healthy"), agent("lost")];
    const items = new Map<string, string>();
    for (const who of [covered, healthy, lost]) items.set(who.id, await plantItem(database.db));
    const idOf = (who: { id: string }): string => items.get(who.id) ?? "";
    const first = await granted(engine, covered, { itemId: idOf(covered), ttlSeconds: 1_500, start: true });
    const second = await granted(engine, healthy, { itemId: idOf(healthy), ttlSeconds: 900, start: true });
    await granted(engine, lost, { itemId: idOf(lost), ttlSeconds: 900, start: true });
    expect(first.ttlSeconds).toBe(1_500);
    for (let passed = 0; passed < SILENT_MS; passed += 300_000) {
      await database.advance(300_000);
      await refresh(engine, healthy, { itemId: idOf(healthy), fence: second.fence });
      await engine.engine.sweep(new AbortController().signal);
    }
    expect(await stateOf(database.db, idOf(covered))).toMatchObject({ agent: "covered", fence: first.fence });
    expect(await stateOf(database.db, idOf(healthy))).toMatchObject({
      agent: "healthy",
      fence: second.fence,
    });
    expect(await stateOf(database.db, idOf(lost))).toMatchObject({ agent: null, role: "queue", attempts: 1 });
    expect(await refused(engine, agent("other"), { itemId: idOf(covered) })).toMatchObject({
      outcome: "already_claimed",
    });
    for (const who of [covered, healthy]) {
      expect(await advance(engine, who, { itemId: idOf(who), trigger: "complete" })).toMatchObject({
        applied: true,
      });
    }
  });
});
