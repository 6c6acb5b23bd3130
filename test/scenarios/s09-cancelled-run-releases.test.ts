/** A worker's run is cancelled, fails or times out: the item is nobody's in the same instant, and who it is meant for stays. */
import { expect, it } from "vitest";
import { advance, agent, granted, release, stateOf } from "../integration/claims/calls.ts";
import { type Bench, describeEachWay } from "../integration/claims/engines.ts";
import { plantItem } from "../support/fixtures.ts";

const TTL_SECONDS = 60;
/** The same agent, in the run that ended and in the one that comes after it. */
const ENDED = agent("ada", "run-1");
const AGAIN = agent("ada", "run-2");

type End = (bench: Bench, itemId: string, fence: number) => Promise<void>;

const ENDS: readonly (readonly [string, End])[] = [
  [
    "is cancelled",
    async ({ engine }, itemId, fence) => {
      expect(await release(engine, ENDED, { itemId, fence, requeue: true })).toMatchObject({
        outcome: "success",
        requeued: true,
      });
    },
  ],
  [
    "fails",
    async ({ engine }, itemId, fence) => {
      const failed = { itemId, fence, trigger: "fail", class: "environment", reason: "the disk was full" };
      expect(await advance(engine, ENDED, failed)).toMatchObject({ applied: true });
    },
  ],
  [
    "times out",
    async ({ engine, database }) => {
      // Past the ttl and the grace that follows it.
      await database.advance(2 * TTL_SECONDS * 1000);
      await engine.engine.sweep(new AbortController().signal);
    },
  ],
];

describeEachWay("an item whose run ends without finishing it", (bench) => {
  it.each(ENDS)("is free at once and keeps its routing when the run %s [S9]", async (_how, end) => {
    const { database, engine } = bench();
    const routing = { assignee: "ada", needs: ["gpu"], priority: "high", tags: ["backend"] } as const;
    const itemId = await plantItem(database.db, routing);
    const call = { capabilities: "gpu" };
    const claimed = await granted(engine, ENDED, { itemId, ttlSeconds: TTL_SECONDS, start: true }, call);
    await end(bench(), itemId, claimed.fence);

    expect(await stateOf(database.db, itemId)).toMatchObject({ ...FREE, ...routing });
    const next = await granted(engine, AGAIN, { itemId }, call);
    expect(next.fence).toBeGreaterThan(claimed.fence);
    await release(engine, AGAIN, { itemId });
  });
});

const FREE = { role: "queue", agent: null, session: null, claimed_at: null, expires_at: null, ttl_ms: null };
