/** A worker's process dies; a new one of the same name comes to work on the same item. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { advance, agent, granted, refused, release, type Who } from "../integration/claims/calls.ts";
import { describeEachWay } from "../integration/claims/engines.ts";
import { read, write } from "../integration/notes/notebook.ts";
import { worker } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

const DEAD = agent("same-name", "session-1");
const NEW = agent("same-name", "session-2");
const saying = ({ id, workerId }: Who): object => ({ actor: worker(id), workerId, requestId: randomUUID() });

describeEachWay("a new session of a worker whose old one holds the item", (bench) => {
  it("reads and writes notes, and neither releases, advances nor claims it before the claim has lapsed [S10]", async () => {
    const { database, engine } = bench();
    const itemId = await plantItem(database.db);
    const old = await granted(engine, DEAD, { itemId, ttlSeconds: 60, start: true });
    await write(engine, { itemId, key: "log", role: "work", body: "so far", fence: old.fence }, saying(DEAD));

    expect(await read(engine, itemId, "log")).toMatchObject({ body: "so far" });
    const note = { itemId, key: "found", role: "work", body: "left by session 1" };
    expect(await write(engine, note, saying(NEW))).toMatchObject({ version: 1 });
    expect(await release(engine, NEW, { itemId })).toMatchObject({ outcome: "not_claimed_by_you" });
    expect(await advance(engine, NEW, { itemId, trigger: "complete" })).toMatchObject({
      applied: false,
      errorCode: "not_claim_holder",
    });
    expect(await refused(engine, NEW, { itemId })).toMatchObject({ outcome: "already_claimed" });

    await database.advance(90_001);
    await granted(engine, NEW, { itemId, ttlSeconds: 60 });
    const late = { itemId, key: "log", role: "work", body: "from the grave" };
    for (const fence of [{}, { fence: old.fence }]) {
      expect(await write(engine, { ...late, ...fence }, saying(DEAD))).toMatchObject({ code: "claim_lost" });
    }
    expect(await read(engine, itemId, "log")).toMatchObject({ body: "so far", version: 1 });
    // Whoever claims again is no stranger any more, whatever was lost before.
    expect(await write(engine, late, saying(NEW))).toMatchObject({ version: 2 });
  });
});
