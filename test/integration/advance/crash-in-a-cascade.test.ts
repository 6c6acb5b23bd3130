/**
 * The database's own process dies while a child and its parents are being closed: in the middle of
 * the writes, and at the very commit. A trigger is the assassin, so the moment is exact.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { agent } from "../claims/calls.ts";
import { advanceCall, key, openBoard, type Board } from "./board.ts";

const ann = agent("ann");
const MOMENTS = {
  "in the middle of the writes": "trigger assassin after update on item_state for each row",
  "at the commit":
    "constraint trigger assassin after update on item_state deferrable initially deferred for each row",
} as const;

describe("a crash between a child and the cascade to its parents", () => {
  let database: TestDatabase;
  let board: Board;

  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    board = openBoard(database);
    await sql`
      create function die() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`.execute(database.db);
  });
  afterAll(async () => {
    await board.engine.close();
    await database.close();
  });

  beforeEach(() => {
    // The engine logs what it meets here, and rightly so.
    vi.spyOn(console, "error").mockImplementation(() => {});
  });

  it.each(Object.entries(MOMENTS))(
    "%s leaves neither closed, and the same call then closes all, once [B35]",
    async (_moment, trigger) => {
      const top = await board.plant({ role: "work" });
      const parent = await board.plant({ parentId: top, role: "work" });
      const child = await board.plant({ parentId: parent, role: "work" });
      const chain = [child, parent, top] as const;
      // Over connections of its own: those of the board stay whole.
      const doomed = createTestEngine(await database.openAnother());
      const call = { requestId: key(), itemId: child, trigger: "complete" };

      const victim = sql.lit(parent);
      await sql`create ${sql.raw(trigger)} when (new.item_id = ${victim}) execute function die()`.execute(
        database.db,
      );
      const { results } = await advanceCall({ engine: doomed }, ann, call);
      await doomed.close();
      await sql`drop trigger assassin on item_state`.execute(database.db);

      expect(results).toMatchObject([{ applied: false, errorCode: "unavailable", errorKind: "transient" }]);
      expect(await board.roles(...chain)).toEqual(["work", "work", "work"]);
      for (const id of chain) expect(await board.audit(id)).toEqual([]);

      expect((await advanceCall(board, ann, call)).results).toMatchObject([
        { applied: true, newRole: "terminal" },
      ]);
      expect(await board.roles(...chain)).toEqual(["terminal", "terminal", "terminal"]);
      expect(await board.audit(child)).toEqual(["complete work>terminal ann"]);
      for (const id of [parent, top]) expect(await board.audit(id)).toEqual(["cascade work>terminal ann"]);
    },
  );
});
