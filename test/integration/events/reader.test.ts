/** What reads the outbox, with transactions that end in another order than they took their numbers. */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenDatabase } from "../../../db/open.ts";
import { findEventBounds } from "../../../db/stores/event-store.ts";
import { EventReader } from "../../../services/engine/events/event-reader.ts";
import { createTestDatabase, describeEachDatabase, type TestDatabase } from "../../support/database.ts";

async function write(db: OpenDatabase["db"], type: string): Promise<number> {
  const { rows } = await sql<{
    seq: string;
  }>`insert into events (type) values (${type}) returning seq`.execute(db);
  return Number(rows[0]?.seq);
}

async function readerFromNow(db: OpenDatabase["db"]): Promise<EventReader> {
  return new EventReader(db, (await findEventBounds(db)).newest);
}

async function typesOf(reader: EventReader): Promise<string[]> {
  return (await reader.read()).events.map(({ type }) => type);
}

/** A transaction that has taken a number and does not end until it is told to. */
async function beginWrite(db: OpenDatabase["db"], type: string) {
  const written = Promise.withResolvers<number>();
  const end = Promise.withResolvers<"commit" | "rollback">();
  const done = db
    .transaction()
    .execute(async (tx) => {
      written.resolve(await write(tx, type));
      if ((await end.promise) === "rollback") throw new Error("as planned");
    })
    .catch((error: unknown) => {
      if ((error as Error).message !== "as planned") throw error;
    });
  return {
    seq: await written.promise,
    end: async (how: "commit" | "rollback") => {
      end.resolve(how);
      await done;
    },
  };
}

describe("the reader of events, while transactions run", () => {
  let database: TestDatabase;
  let other: OpenDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    other = await database.openAnother();
  });
  afterAll(() => database?.close());

  // Fails when EventReader takes whatever it finds: it then goes past the first number for ever.
  it("stops before a number whose transaction has not ended, though a later one was committed first", async () => {
    const reader = await readerFromNow(database.db);
    const early = await beginWrite(database.db, "early");
    const late = await write(other.db, "late");
    expect(late).toBeGreaterThan(early.seq);
    expect(await reader.read()).toMatchObject({ events: [], next: "gap" });
    expect(await reader.read()).toMatchObject({ events: [], next: "gap" });
    await early.end("commit");
    expect(await typesOf(reader)).toEqual(["early", "late"]);
    expect(reader.position).toBe(late);
  });

  it("hands out what comes before the gap at once", async () => {
    const reader = await readerFromNow(database.db);
    await write(other.db, "first");
    const middle = await beginWrite(database.db, "middle");
    await write(other.db, "last");
    expect(await typesOf(reader)).toEqual(["first"]);
    await middle.end("commit");
    expect(await typesOf(reader)).toEqual(["middle", "last"]);
  });

  // Fails when a gap is given up as soon as it is seen again, and hangs when it is never given up.
  it("gives a number up that was rolled back, but only then", async () => {
    const reader = await readerFromNow(database.db);
    const undone = await beginWrite(database.db, "undone");
    await write(other.db, "after");
    expect(await typesOf(reader)).toEqual([]);
    await undone.end("rollback");
    expect(await typesOf(reader)).toEqual(["after"]);
  });

  it("waits for those who ran when the gap was first seen, not for those who began later", async () => {
    const reader = await readerFromNow(database.db);
    const undone = await beginWrite(database.db, "undone");
    await write(other.db, "after");
    expect(await typesOf(reader)).toEqual([]);
    const later = await beginWrite(other.db, "later");
    await undone.end("rollback");
    expect(await typesOf(reader)).toEqual(["after"]);
    await later.end("commit");
    expect(await typesOf(reader)).toEqual(["later"]);
  });

  it("waits for a transaction that has a number, and nothing else that would give it an id", async () => {
    const reader = await readerFromNow(database.db);
    const taken = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const silent = database.db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ seq: string }>`select nextval('events_seq_seq') as seq`.execute(tx);
      taken.resolve();
      await go.promise;
      await sql`insert into events (seq, type) overriding system value values (${rows[0]?.seq}, 'silent')`.execute(
        tx,
      );
    });
    await taken.promise;
    await write(other.db, "after");
    expect(await reader.read()).toMatchObject({ events: [], next: "gap" });
    go.resolve();
    await silent;
    expect(await typesOf(reader)).toEqual(["silent", "after"]);
  });

  it("loses and repeats nothing when eight write at once and a third of them fail", async () => {
    const start = (await findEventBounds(database.db)).newest;
    const reader = new EventReader(database.db, start);
    const pools = [database, other];
    const committed = new Set<number>();
    const writing = new AbortController();
    const writers = Promise.all(
      Array.from({ length: 8 }, async (_, who) => {
        const { db } = pools[who % 2] ?? database;
        for (let round = 0; round < 25; round += 1) {
          const one = await beginWrite(db, `w${who}.${round}`);
          const isKept = (who + round) % 3 !== 0;
          await one.end(isKept ? "commit" : "rollback");
          if (isKept) committed.add(one.seq);
        }
      }),
    ).finally(() => writing.abort());
    const seen: number[] = [];
    for (let idle = 0; idle < 2;) {
      const { events, next } = await reader.read();
      seen.push(...events.map(({ seq }) => seq));
      idle = !writing.signal.aborted || next !== "end" || events.length > 0 ? 0 : idle + 1;
    }
    await writers;
    expect(seen).toEqual([...committed].toSorted((a, b) => a - b));
  });
});

describeEachDatabase("the reader of events", (database) => {
  it("goes past a number that was rolled back", async () => {
    const { db } = database();
    const reader = await readerFromNow(db);
    await write(db, "one");
    const undone = await beginWrite(db, "undone");
    await undone.end("rollback");
    await write(db, "two");
    const seen: string[] = [];
    for (let next = "more"; next !== "end";) {
      const page = await reader.read();
      seen.push(...page.events.map(({ type }) => type));
      ({ next } = page);
    }
    expect(seen).toEqual(["one", "two"]);
  });
});
