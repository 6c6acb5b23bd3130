import { describe, expect, it } from "vitest";
import type { Kysely } from "kysely";
import type { Database } from "../../../db/schema.ts";
import { createDatabaseTime } from "../../../services/engine/database-time.ts";

/** Half a minute off this process' clock, so that nothing agrees by chance. */
const OFFSET_MS = 30_000;
const SECOND = 1_000;

/** A database that answers nothing but the time, or nothing at all. */
function answering(state: { offsetMs: number; silent?: boolean }): Kysely<Database> {
  const executor = {
    transformQuery: <T>(node: T): T => node,
    compileQuery: () => ({ sql: "", parameters: [] }),
    executeQuery: async () => {
      if (state.silent === true) await new Promise(() => {});
      return { rows: [{ now: new Date(performance.now() + state.offsetMs) }] };
    },
    withPlugins: () => executor,
  };
  return { getExecutor: () => executor } as unknown as Kysely<Database>;
}

const off = async (time: { now(): Promise<number> }): Promise<number> =>
  (await time.now()) - performance.now() - OFFSET_MS;

describe("the database's time between two questions to it", () => {
  it("is not set back by a transaction that waited: its time is the one at which it began", async () => {
    const time = createDatabaseTime(answering({ offsetMs: OFFSET_MS }), 60 * SECOND);
    expect(Math.abs(await off(time))).toBeLessThan(100);
    time.observe(performance.now() + OFFSET_MS - 5 * SECOND);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });

  it("goes forward with what a transaction brings along", async () => {
    const time = createDatabaseTime(answering({ offsetMs: OFFSET_MS - 5 * SECOND }), 60 * SECOND);
    await time.now();
    time.observe(performance.now() + OFFSET_MS);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });

  it("is asked for anew although transactions bring theirs along, and follows a clock that was set back", async () => {
    const state = { offsetMs: OFFSET_MS + 60 * SECOND };
    const time = createDatabaseTime(answering(state), 0);
    await time.now();
    state.offsetMs = OFFSET_MS;
    time.observe(performance.now() + OFFSET_MS);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });

  it("is told from what is known while the database is silent, so that heartbeats do not wait for it", async () => {
    const state = { offsetMs: OFFSET_MS, silent: false };
    const time = createDatabaseTime(answering(state), 0);
    await time.now();
    state.silent = true;
    expect(Math.abs(await off(time))).toBeLessThan(100);
    expect(Math.abs(await off(time))).toBeLessThan(100);
  });
});
