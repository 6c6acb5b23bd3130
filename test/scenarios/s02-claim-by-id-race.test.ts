/** Simultaneous claims of one item by id, under distinct names and under one shared name. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";
import { agent, claim, tenuresOf } from "../integration/claims/calls.ts";

describeEachDatabase("workers that race for one item by its id", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  it.each([
    { workers: 2, names: "distinct" },
    { workers: 8, names: "distinct" },
    { workers: 2, names: "shared" },
    { workers: 8, names: "shared" },
  ])(
    "$workers of them under $names names: one wins, the rest are told until when it is claimed [S2]",
    async ({ workers, names }) => {
      const run = randomUUID().slice(0, 8);
      for (let round = 0; round < 10; round += 1) {
        const itemId = await plantItem(database().db);
        const crew = Array.from({ length: workers }, (_, index) =>
          agent(names === "shared" ? "default-user" : `worker-${run}-${index}`, `session-${run}-${index}`),
        );
        const results = await Promise.all(crew.map((who) => claim(engine, who, { itemId, ttlSeconds: 60 })));
        const winner = crew[results.findIndex((one) => one.outcome === "success")];
        const losers = results.filter((one) => one.outcome !== "success");
        expect(losers).toHaveLength(workers - 1);
        for (const loser of losers) {
          expect(loser).toMatchObject({
            outcome: "already_claimed",
            retryAfterMs: expect.any(Number) as unknown,
          });
          if (names === "shared")
            expect(loser).toHaveProperty("hint", expect.stringMatching(/workerId or the fence/));
        }
        expect(await tenuresOf(database().db, itemId)).toEqual([`${winner?.workerId}: open`]);
      }
    },
  );
});
