import { describe, expect, it } from "vitest";
import { createRetentionLoop } from "../../../services/scheduler/retention-loop.ts";

describe("the retention loop", () => {
  it("goes on while there is more, and says once how much it let go of", async () => {
    const rounds = [
      { deleted: 500, more: true },
      { deleted: 500, more: true },
      { deleted: 7, more: false },
    ];
    const said: unknown[] = [];
    const loop = createRetentionLoop({
      engine: { retain: async () => rounds.shift() ?? { deleted: 0, more: false } },
      log: { info: (fields: object) => said.push(fields), warn: () => undefined } as never,
    });
    loop.start();
    for (let round = 0; round < 3; round += 1) await loop.ranOnce();
    await loop.stop();
    expect(rounds).toEqual([]);
    expect(said).toEqual([{ deleted: 1_007 }]);
  });

  it("stops in the middle of its rest, and runs no round after that", async () => {
    let rounds = 0;
    const { promise: began, resolve } = Promise.withResolvers<void>();
    const loop = createRetentionLoop({
      engine: {
        async retain() {
          rounds += 1;
          resolve();
          return { deleted: 1, more: true };
        },
      },
      log: { info: () => undefined, warn: () => undefined } as never,
    });
    loop.start();
    await began;
    await loop.stop();
    const atTheStop = rounds;
    await loop.stop();
    expect(rounds).toBe(atTheStop);
  });

  it("survives a database that is away, and says so once", async () => {
    const warned: string[] = [];
    const loop = createRetentionLoop({
      engine: { retain: () => Promise.reject(new Error("away")) },
      log: { info: () => undefined, warn: (_: object, text: string) => warned.push(text) } as never,
    });
    loop.start();
    await loop.ranOnce();
    loop.nudge();
    await loop.ranOnce();
    await loop.stop();
    expect(warned).toEqual(["retention failed, trying again"]);
  });
});
