import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { until } from "../../support/until.ts";
import { agent, stateOf } from "../claims/calls.ts";
import { advanceCall, key, openBoard, type Board } from "./board.ts";
import { watchDatabase, type WatchedDatabase } from "./watched-database.ts";

const ann = agent("ann");

describe("transitions while the database fails", () => {
  let database: TestDatabase;
  let watched: WatchedDatabase;
  let engine: TestEngine;
  let board: Board;

  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    board = openBoard(database);
    watched = watchDatabase(database.url ?? "");
    engine = createTestEngine(watched);
  });
  afterAll(async () => {
    await engine.close();
    await board.engine.close();
    await watched.close();
    await database.close();
  });

  beforeEach(() => {
    // The engine logs what it meets here, and rightly so.
    vi.spyOn(console, "error").mockImplementation(() => {});
  });

  /** Ends every backend that waits for a lock, once there is one. */
  async function killWaiters(): Promise<void> {
    await until(async () => {
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
      return rows.length > 0;
    });
  }

  it("a backend that dies in mid-call is a fault of the moment, and the same call is then done once [P-26]", async () => {
    const id = await board.plant();
    const call = { requestId: key(), itemId: id, trigger: "start" };
    const pending = await database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${id} for update`.execute(tx);
      const answer = advanceCall({ engine }, ann, call);
      await killWaiters();
      return { answer: await answer };
    });
    expect(pending.answer.results).toMatchObject([
      { applied: false, errorCode: "unavailable", errorKind: "transient" },
    ]);
    expect(JSON.stringify(pending.answer)).not.toMatch(/57P01|administrator|postgres/iu);
    expect(await board.roles(id)).toEqual(["queue"]);
    expect((await advanceCall({ engine }, ann, call)).results).toMatchObject([
      { applied: true, newRole: "work" },
    ]);
    expect(await board.audit(id)).toEqual(["start queue>work ann"]);
  });

  it("an answer that was lost after the commit is replayed, and nothing is done twice [P-26]", async () => {
    const id = await board.plant();
    const call = { requestId: key(), itemId: id, trigger: "start" };
    watched.loseAnswerTo("commit");
    expect((await advanceCall({ engine }, ann, call)).results).toMatchObject([
      { applied: false, errorCode: "unavailable" },
    ]);
    expect(await board.roles(id)).toEqual(["work"]);
    const again = await advanceCall(board, ann, call);
    expect(again.results).toMatchObject([
      { applied: true, previousRole: "queue", newRole: "work", replayed: true },
    ]);
    expect(await board.audit(id)).toEqual(["start queue>work ann"]);
  });

  it("a batch whose fate is unknown is never run again for those who sent no key", async () => {
    const ids = [await board.plant(), await board.plant(), await board.plant()];
    watched.loseAnswerTo("commit");
    const calls = ids.map((itemId) => advanceCall({ engine }, ann, { itemId, trigger: "start" }));
    for (const { results } of await Promise.all(calls)) {
      expect(results).toMatchObject([{ applied: false, errorCode: "unavailable" }]);
    }
    expect(await board.roles(...ids)).toEqual(["work", "work", "work"]);
  });

  it("callers with keys may send theirs again, and each was done once", async () => {
    const ids = [await board.plant(), await board.plant(), await board.plant()];
    watched.loseAnswerTo("commit");
    const calls = ids.map((itemId) => ({ requestId: key(), itemId, trigger: "start" }));
    await Promise.all(calls.map((call) => advanceCall({ engine }, ann, call)));
    const again = await Promise.all(calls.map((call) => advanceCall(board, ann, call)));
    for (const { results } of again)
      expect(results).toMatchObject([{ applied: true, newRole: "work", replayed: true }]);
    expect(await board.roles(...ids)).toEqual(["work", "work", "work"]);
  });

  it("a row that stays locked is a fault of the moment that changes nothing", async () => {
    const id = await board.plant();
    const impatient = createTestEngine(watched);
    await sql`alter database ${sql.ref(new URL(database.url ?? "").pathname.slice(1))} set lock_timeout = '200ms'`.execute(
      database.db,
    );
    const answer = await database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${id} for update`.execute(tx);
      return await advanceCall({ engine: impatient }, ann, { itemId: id, trigger: "start" });
    });
    await impatient.close();
    expect(answer.results).toMatchObject([{ applied: false, errorCode: "db_error", errorKind: "transient" }]);
    expect(await stateOf(database.db, id)).toMatchObject({ role: "queue" });
  });
});
