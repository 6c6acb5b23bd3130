/** Races that the lock of an item's row decides: two replicas meet at it, in both orders. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { meetAt, waitForBlocked } from "../items/interleaving.ts";
import { Workbench } from "../items/workbench.ts";
import { makeItem, manage, query, read, write } from "./notebook.ts";

describe("two replicas write notes at once", () => {
  let database: TestDatabase;
  let bench: Workbench;
  let one: TestEngine;
  let other: TestEngine;
  beforeEach(async () => {
    database = await createTestDatabase({ kind: "pg" });
    const replica = await database.openAnother();
    bench = new Workbench(database);
    one = createTestEngine(database);
    other = createTestEngine(replica);
  });
  afterEach(async () => {
    await one?.close();
    await other?.close();
    await database?.close();
  });

  // Fails when the door is asked without the lock: in `note-scene.ts`, read the world on `deps.db` instead of `tx`.
  it("nobody takes the item over between the look at its holder and the note [late note write]", async () => {
    const itemId = await bench.item("contended");
    const fence = await bench.claim(itemId, { agent: "ann", session: "s1" });
    const holder = { actor: worker("ann"), workerId: "s1" };
    await write(one, { itemId, body: "early", fence }, holder);
    // The note waits for its row when its door was asked already.
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = database.db.transaction().execute(async (tx) => {
      await sql`select from notes where item_id = ${itemId} for update`.execute(tx);
      held.resolve();
      await gate.promise;
    });
    await held.promise;
    let takenOver = false;
    const late = write(one, { itemId, body: "late", fence }, holder);
    await waitForBlocked(database, 1);
    const takeOver = bench.expire(itemId).then(() => (takenOver = true));
    try {
      await Promise.race([waitForBlocked(database, 2), takeOver]);
      expect(takenOver).toBe(false);
    } finally {
      gate.resolve();
      await Promise.all([holding, late, takeOver]);
    }
    expect(await late).toMatchObject({ version: 2 });
    expect(await write(one, { itemId, body: "later", fence }, holder)).toMatchObject({ code: "claim_lost" });
    expect(await read(one, itemId)).toMatchObject({ body: "late" });
  });

  it("the late note of a holder who is being taken over is refused, or came before [late note write]", async () => {
    const seen = new Set<string>();
    for (let n = 0; n < 6; n += 1) {
      const itemId = await bench.item("contended");
      const fence = await bench.claim(itemId, { agent: "ann", session: "s1" });
      const late = () =>
        write(
          one,
          { itemId, body: "late", fence },
          { actor: worker("ann"), workerId: "s1" },
        ) as Promise<object>;
      const takeOver = () => bench.expire(itemId);
      const [first, second] = n % 2 === 0 ? [late, takeOver] : [takeOver, late];
      const answers: unknown[] = await meetAt(database, [itemId], [first, second]);
      const answer = answers[n % 2] as { code?: string };
      expect(answer).toMatchObject(n % 2 === 0 ? { version: 1 } : { code: "claim_lost" });
      seen.add(answer.code ?? "written");
      if (answer.code !== undefined)
        await expect(read(one, itemId)).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    }
    expect([...seen].toSorted()).toEqual(["claim_lost", "written"]);
  });

  // Fails (a duplicate key, or two ids) when `notes_save` inserts without "on conflict" and the row is not locked.
  it("one key written by many at once stays one note, and counts every write [B74]", async () => {
    const itemId = await makeItem(one);
    const writes = Array.from({ length: 20 }, (_, n) =>
      write(n % 2 === 0 ? one : other, { itemId, body: `by ${n}` }, { actor: worker(`w${n}`) }),
    );
    const notes = (await Promise.all(writes)) as { id: string; createdAt: string; version: number }[];
    expect(new Set(notes.map((note) => note.id)).size).toBe(1);
    expect(new Set(notes.map((note) => note.createdAt)).size).toBe(1);
    expect(notes.map((note) => note.version).toSorted((a, b) => a - b)).toEqual(notes.map((_, n) => n + 1));
    const history = await query(one, { operation: "history", itemId, key: "plan", limit: 50 });
    expect(history.versions).toHaveLength(20);
  });

  // Fails when the text is read before the lock: move `findNote` of `patch-notes.ts` in front of `onItem`.
  it("edits of different places made at once are both there [P-22]", async () => {
    const itemId = await makeItem(one);
    await write(one, { itemId, body: "first line\nmiddle\nlast line\n" });
    const patch = (engine: TestEngine, old: string, instead: string) => () =>
      manage(engine, {
        operation: "patch",
        notes: [{ itemId, key: "plan", edits: [{ old, new: instead }], expectedVersion: 1 }],
      }) as Promise<object>;
    const [left, right] = await meetAt(
      database,
      [itemId],
      [patch(one, "first", "1st"), patch(other, "last", "final")],
    );
    expect(left).toMatchObject({ patched: 1 });
    expect(right).toMatchObject({ patched: 1, notes: [{ rebased: true, intervening: [{ version: 2 }] }] });
    expect(await read(one, itemId)).toMatchObject({ body: "1st line\nmiddle\nfinal line\n", version: 3 });
  });

  it("of two writers who know the same version, one is refused [P-21]", async () => {
    const itemId = await makeItem(one);
    await write(one, { itemId, body: "one" });
    const send = (engine: TestEngine, body: string) => () =>
      write(engine, { itemId, body, expectedVersion: 1 }) as Promise<{ code?: string }>;
    const answers = await meetAt(database, [itemId], [send(one, "left"), send(other, "right")]);
    expect(answers.map((answer) => answer.code)).toEqual([undefined, "version_conflict"]);
    expect(await read(one, itemId)).toMatchObject({ body: "left", version: 2 });
  });

  it("whoever may not hold the item may still write on it, but not with a fence that is not his", async () => {
    const itemId = await bench.item("held");
    const fence = await bench.claim(itemId, { agent: "ann", session: "s1" });
    const reviewer = { actor: worker("ben"), workerId: "s2" };
    expect(await write(one, { itemId, body: "a remark" }, reviewer)).toMatchObject({ version: 1 });
    expect(await write(one, { itemId, body: "x", fence }, reviewer)).toMatchObject({ code: "claim_lost" });
    expect(
      await write(one, { itemId, body: "x", fence }, { actor: worker("ann"), workerId: "s1" }),
    ).toMatchObject({ version: 2 });
  });
});
