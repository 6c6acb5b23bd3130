/**
 * The scheduler: sees to what nobody asks for.
 *
 *   every second, or when an instant is due ──▶ sweep ──▶ register the instants that come next
 *            ▲                                    │
 *            └───────── at once, if more ─────────┘
 *
 * Beside it one loop fires reminders and schedules (`wake-up-loop.ts`), and one lets go of what is
 * old (`retention-loop.ts`).
 *
 * It holds no state that matters. Any number of schedulers may run at once: a claim is ended
 * under its own fence, once. If none runs, claims free what stands in their way themselves and
 * an API sweeps in its stead (`stand-in-sweep.ts`).
 */
import type { Engine } from "../engine/engine.ts";
import type { DueInstant, Instants } from "../engine/instants.ts";
import type { Log } from "../runtime/log.ts";
import { createPacedLoop, type PacedLoop } from "../runtime/paced-loop.ts";
import { createRetentionLoop } from "./retention-loop.ts";
import { createWakeUpLoop } from "./wake-up-loop.ts";
import type { InstantSource } from "./instant-source.ts";

export interface SchedulerDeps {
  readonly engine: Pick<Engine, "sweep" | "retain" | "fireDue">;
  readonly instants: Instants;
  readonly source: InstantSource;
  readonly log: Pick<Log, "info" | "warn">;
  readonly everyMs?: number;
  /** Monotonic milliseconds, for tests. */
  readonly now?: () => number;
}

export interface Scheduler {
  start(): void;
  /** Resolves after a sweep that began after this call. */
  swept(): Promise<void>;
  stop(): Promise<void>;
}

const SWEEP_EVERY_MS = 1_000;
/** After an outage of the database the sweep is back within this. */
const SWEEP_BACKOFF = { firstMs: 1_000, maxMs: 5_000 };
/** Registered instants are registered again after this: Redis may have been wiped without anybody noticing. */
const REGISTER_AGAIN_MS = 10_000;

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { engine, instants, source, log, everyMs = SWEEP_EVERY_MS } = deps;
  const register = createRegistrar(deps);

  const sweep: PacedLoop = createPacedLoop({
    name: "sweep",
    everyMs,
    backoff: SWEEP_BACKOFF,
    async run(signal) {
      const { more, ...ended } = await engine.sweep(signal);
      if (ended.freed > 0) log.info(ended, "freed lapsed claims");
      if (!more && !signal.aborted) await register();
      return more;
    },
    onError: (error, failures) => {
      if (failures === 1) log.warn({ err: error }, "sweep failed, trying again");
    },
  });
  const wakeUps = createWakeUpLoop(deps);
  source.onDue((kind) => {
    if (kind === "available") instants.wakeWaiting();
    else if (kind === "wake_up") wakeUps.nudge();
    else sweep.nudge();
  });

  const retention = createRetentionLoop(deps);

  return {
    start() {
      sweep.start();
      wakeUps.start();
      retention.start();
    },
    swept: () => sweep.ranOnce(),
    async stop() {
      await Promise.all([sweep.stop(), wakeUps.stop(), retention.stop()]);
    },
  };
}

interface Registered {
  readonly at: number;
  readonly memory: number;
  readonly registeredAt: number;
}

/** Registers what comes next, unless that was done lately and cannot have been lost since. */
function createRegistrar({ instants, source, now = () => performance.now() }: SchedulerDeps) {
  const registered = new Map<DueInstant["kind"], Registered>();
  return async (): Promise<void> => {
    for (const instant of await instants.next()) {
      const before = registered.get(instant.kind);
      const { memory } = source;
      const isKept = before?.at === instant.at && before.memory === memory;
      if (isKept && now() - before.registeredAt < REGISTER_AGAIN_MS) continue;
      if (!(await source.register(instant))) continue;
      registered.set(instant.kind, { at: instant.at, memory, registeredAt: now() });
    }
  };
}
