import { describe, expect, it } from "vitest";
import type { SweepReport } from "../../../services/engine/engine.ts";
import type { DueInstant } from "../../../services/engine/instants.ts";
import { createScheduler, type Scheduler } from "../../../services/scheduler/create-scheduler.ts";
import type { InstantSource } from "../../../services/scheduler/instant-source.ts";

const IDLE: SweepReport = { freed: 0, requeued: 0, dead: 0, more: false };
/** Longer than any test: what runs again did so for another reason than its pace. */
const NEVER_MS = 3_600_000;

function setup(options: { readonly everyMs?: number; readonly sweep?: () => Promise<SweepReport> } = {}) {
  const state = {
    sweeps: 0,
    looks: 0,
    looked: (): void => undefined,
    woken: 0,
    now: 0,
    memory: 0,
    takes: true,
    next: [] as DueInstant[],
    registered: [] as DueInstant[],
    warnings: [] as string[],
  };
  let due: (kind: DueInstant["kind"]) => void = () => {};
  const source: InstantSource = {
    get memory() {
      return state.memory;
    },
    async register(instant) {
      state.registered.push(instant);
      return state.takes;
    },
    onDue(listener) {
      due = listener;
    },
    close: async () => undefined,
  };
  const scheduler: Scheduler = createScheduler({
    engine: {
      sweep: async () => {
        state.sweeps += 1;
        return options.sweep ? options.sweep() : IDLE;
      },
      fireDue: async () => {
        state.looks += 1;
        state.looked();
        return { reminders: 0, schedules: 0, more: false };
      },
      retain: async () => ({ deleted: 0, more: false }),
    },
    instants: { next: async () => state.next, wakeWaiting: () => (state.woken += 1) },
    source,
    log: {
      info: () => undefined,
      warn: (_fields: object, message: string) => state.warnings.push(message),
    } as never,
    everyMs: options.everyMs ?? NEVER_MS,
    now: () => state.now,
  });
  return { state, scheduler, fire: (kind: DueInstant["kind"]) => due(kind) };
}

async function sweepNow({ scheduler, fire }: ReturnType<typeof setup>): Promise<void> {
  const swept = scheduler.swept();
  fire("sweep");
  await swept;
}

const EXPIRY: DueInstant = { kind: "sweep", at: 5_000, inMs: 400 };

describe("the scheduler", () => {
  it("sweeps as soon as it starts, and at once when an instant is due", async () => {
    const test = setup();
    const first = test.scheduler.swept();
    test.scheduler.start();
    await first;
    await sweepNow(test);
    expect(test.state.sweeps).toBe(2);
    await test.scheduler.stop();
  });

  it("wakes waiting claims when a wait of an item is over, without sweeping", async () => {
    const test = setup();
    const first = test.scheduler.swept();
    test.scheduler.start();
    await first;
    test.fire("available");
    expect([test.state.woken, test.state.sweeps]).toEqual([1, 1]);
    await test.scheduler.stop();
  });

  it("fires what is due at once when the instant of a wake-up has come, without sweeping", async () => {
    const test = setup();
    const firsts = Promise.withResolvers<void>();
    test.state.looked = firsts.resolve;
    const swept = test.scheduler.swept();
    test.scheduler.start();
    await Promise.all([swept, firsts.promise]);
    const second = Promise.withResolvers<void>();
    test.state.looked = second.resolve;
    test.fire("wake_up");
    await second.promise;
    expect([test.state.looks, test.state.sweeps]).toEqual([2, 1]);
    await test.scheduler.stop();
  });

  it("goes on at once while batches are full", async () => {
    let left = 3;
    const done = Promise.withResolvers<void>();
    const test = setup({
      sweep: async () => {
        left -= 1;
        if (left === 0) done.resolve();
        return { ...IDLE, freed: 50, more: left > 0 };
      },
    });
    test.scheduler.start();
    await done.promise;
    expect(test.state.sweeps).toBe(3);
    await test.scheduler.stop();
  });

  it("survives a sweep that fails, and says so once", async () => {
    let failing = true;
    const test = setup({
      sweep: async () => {
        if (failing) throw new Error("the database is away");
        return IDLE;
      },
    });
    const first = test.scheduler.swept();
    test.scheduler.start();
    await first;
    await sweepNow(test);
    failing = false;
    await sweepNow(test);
    expect([test.state.sweeps, test.state.warnings]).toEqual([3, ["sweep failed, trying again"]]);
    await test.scheduler.stop();
  });

  describe("registers an instant", () => {
    async function started() {
      const test = setup();
      test.state.next = [EXPIRY];
      const first = test.scheduler.swept();
      test.scheduler.start();
      await first;
      return test;
    }

    it("once, and not at every sweep", async () => {
      const test = await started();
      await sweepNow(test);
      expect(test.state.registered).toEqual([EXPIRY]);
      await test.scheduler.stop();
    });

    it("again after ten seconds, since a store may be wiped without anybody noticing", async () => {
      const test = await started();
      test.state.now = 9_999;
      await sweepNow(test);
      expect(test.state.registered).toHaveLength(1);
      test.state.now = 10_000;
      await sweepNow(test);
      expect(test.state.registered).toHaveLength(2);
      await test.scheduler.stop();
    });

    it("again at once when the store was lost", async () => {
      const test = await started();
      test.state.memory += 1;
      await sweepNow(test);
      expect(test.state.registered).toHaveLength(2);
      await test.scheduler.stop();
    });

    it("again when nobody can say that it was taken down", async () => {
      const test = await started();
      test.state.takes = false;
      test.state.memory += 1;
      await sweepNow(test);
      test.state.takes = true;
      await sweepNow(test);
      await sweepNow(test);
      expect(test.state.registered).toHaveLength(3);
      await test.scheduler.stop();
    });

    it("when another one comes first", async () => {
      const test = await started();
      const earlier: DueInstant = { kind: "sweep", at: 4_000, inMs: 100 };
      test.state.next = [earlier];
      await sweepNow(test);
      expect(test.state.registered).toEqual([EXPIRY, earlier]);
      await test.scheduler.stop();
    });
  });
});
