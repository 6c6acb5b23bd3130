import { describe, expect, it } from "vitest";
import type { Kysely } from "kysely";
import type { Database } from "../../../db/schema.ts";
import { createDatabaseTime } from "../../../services/engine/database-time.ts";

/** Half a minute off this process' clock, so that nothing agrees by chance. */
const OFFSET_MS = 30_000;
const SECOND = 1_000;

/** A database that answers the time, `lateMs` after it looked at its clock. */
function answering(state: { offsetMs: number; lateMs: number }): Kysely<Database> {
  const executor = {
    transformQuery: <T>(node: T): T => node,
    compileQuery: () => ({ sql: "", parameters: [] }),
    executeQuery: async () => ({
      rows: [{ now: new Date(performance.now() + state.offsetMs - state.lateMs) }],
    }),
    withPlugins: () => executor,
  };
  return { getExecutor: () => executor } as unknown as Kysely<Database>;
}

const off = async (time: { now(): Promise<number> }): Promise<number> =>
  (await time.now()) - performance.now() - OFFSET_MS;

describe("the database's time between two questions to it", () => {
  it("is not set back by a transaction that waited: its time is the one at which it began", async () => {
    const time = createDatabaseTime(answering({ offsetMs: OFFSET_MS, lateMs: 0 }), 60 * SECOND);
    expect(Math.abs(await off(time))).toBeLessThan(100);
    time.observe(performance.now() + OFFSET_MS - 5 * SECOND);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });

  it("goes forward with what a transaction brings along", async () => {
    const time = createDatabaseTime(answering({ offsetMs: OFFSET_MS - 5 * SECOND, lateMs: 0 }), 60 * SECOND);
    await time.now();
    time.observe(performance.now() + OFFSET_MS);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });

  it("is asked for anew although transactions bring theirs along, and follows a clock that was set back", async () => {
    const state = { offsetMs: OFFSET_MS + 60 * SECOND, lateMs: 0 };
    const time = createDatabaseTime(answering(state), 0);
    await time.now();
    state.offsetMs = OFFSET_MS;
    time.observe(performance.now() + OFFSET_MS);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });
});
