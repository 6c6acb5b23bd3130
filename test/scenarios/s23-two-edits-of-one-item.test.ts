/** Two clients edit one item a moment apart: different fields both stay, one field is won once. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UpdateItemsOutput } from "../../services/contract/operations/manage-items.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

const TRIALS = 100;

describe("two clients that edit one item through two replicas", () => {
  let database: TestDatabase;
  let engines: readonly [TestEngine, TestEngine];
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    engines = [createTestEngine(database), createTestEngine(await database.openAnother())];
  });
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await database.close();
  });

  const edit = async (client: 0 | 1, itemId: string, change: object): Promise<UpdateItemsOutput> => {
    const items = [{ itemId, ...change }];
    const call = { operation: "update", actor: worker(`client-${client}`), items };
    return (await engines[client].call("manage_items", call)) as UpdateItemsOutput;
  };
  const content = (itemId: string) =>
    database.db
      .selectFrom("items")
      .select(["title", "summary", "version"])
      .where("id", "=", itemId)
      .executeTakeFirstOrThrow();
  /** Both edits, the second as many milliseconds after the first was sent. */
  const both = async (
    itemId: string,
    offsetMs: number,
    first: object,
    second: object,
  ): Promise<UpdateItemsOutput[]> => {
    const later = async (): Promise<UpdateItemsOutput> => {
      if (offsetMs > 0) await delay(offsetMs);
      return await edit(1, itemId, second);
    };
    return await Promise.all([edit(0, itemId, first), later()]);
  };

  it.concurrent.each([0, 5, 20, 50])(
    "%i ms apart keep both changes of different fields, and one of two changes of the same field [S23]",
    async (offsetMs) => {
      const itemId = await plantItem(database.db);
      for (let trial = 0; trial < TRIALS; trial += 1) {
        const { version } = await content(itemId);
        const title = `title ${trial}`;
        const summary = `summary ${trial}`;
        const apart = await both(itemId, offsetMs, { title }, { summary });
        expect(apart.map((one) => one.updated)).toEqual([1, 1]);
        expect(await content(itemId)).toEqual({ title, summary, version: version + 2 });

        const expectedVersion = version + 2;
        const same = await both(
          itemId,
          offsetMs,
          { title: "the first", expectedVersion },
          { title: "the second", expectedVersion },
        );
        const [winner, ...others] = same.flatMap((one, who) => (one.updated === 1 ? [who] : []));
        expect(others).toEqual([]);
        expect(same.flatMap((one) => one.failures ?? [])).toMatchObject([
          {
            errorCode: "version_conflict",
            details: { expected: expectedVersion, actual: expectedVersion + 1 },
          },
        ]);
        expect(await content(itemId)).toMatchObject({
          title: winner === 0 ? "the first" : "the second",
          version: version + 3,
        });
      }
    },
  );
});
