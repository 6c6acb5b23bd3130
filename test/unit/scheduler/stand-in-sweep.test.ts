import { describe, expect, it } from "vitest";
import type { SweepReport } from "../../../services/engine/engine.ts";
import { createStandInSweep } from "../../../services/scheduler/stand-in-sweep.ts";

const IDLE: SweepReport = { freed: 0, requeued: 0, dead: 0, more: false };

async function sweepsAtAge(ageMs: number | null, reports: SweepReport[] = [IDLE]): Promise<number> {
  let sweeps = 0;
  let age = ageMs;
  const loop = createStandInSweep({
    engine: {
      sweepAgeMs: async () => age,
      fireDue: async () => ({ reminders: 0, schedules: 0, more: false }),
      sweep: async () => {
        age = 0;
        return reports[sweeps++] ?? IDLE;
      },
    },
    log: { info: () => undefined, warn: () => undefined } as never,
    everyMs: 3_600_000,
  });
  const runs = reports.filter((report) => report.more).length + 1;
  loop.start();
  for (let run = 0; run < runs; run += 1) await loop.ranOnce();
  await loop.stop();
  return sweeps;
}

describe("an API in place of a scheduler", () => {
  it("sweeps when nobody has for more than ten seconds, or ever", async () => {
    expect(await sweepsAtAge(10_001)).toBe(1);
    expect(await sweepsAtAge(null)).toBe(1);
  });

  it("leaves it to the schedulers while they do", async () => {
    expect(await sweepsAtAge(10_000)).toBe(0);
    expect(await sweepsAtAge(0)).toBe(0);
  });

  it("finishes what it has begun, although its own sweep is a fresh one", async () => {
    expect(await sweepsAtAge(null, [{ ...IDLE, freed: 50, more: true }, IDLE])).toBe(2);
  });
});
