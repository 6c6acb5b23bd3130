/** The claim clock in Redis: batches in, one script call each, `unknown` whenever it fails. */
import type { ClaimClock, ClockEntry, LookOutcome, RenewOutcome } from "../port.ts";
import type { SessionWatch } from "./session.ts";

/** Bounds how long one script keeps the server from everybody else, to a few milliseconds. */
const ENTRIES_PER_CALL = 200;

type ScriptCommand = (keyCount: number, ...keysAndArguments: string[]) => Promise<unknown>;

/** What `clock-scripts.ts` adds to a client. */
export interface ClockCommands {
  readonly musterClockTouch: ScriptCommand;
  readonly musterClockRenew: ScriptCommand;
  readonly musterClockDrop: ScriptCommand;
  readonly musterClockLook: ScriptCommand;
}

export interface RedisClaimClockDeps {
  readonly redis: ClockCommands;
  readonly sessions: Pick<SessionWatch, "current">;
  readonly prefix: string;
}

export function createRedisClaimClock({ redis, sessions, prefix }: RedisClaimClockDeps): ClaimClock {
  const epochKey = `${prefix}epoch`;

  /** The reply to one batch, or null if Redis is away or failed. */
  async function run(
    command: keyof ClockCommands,
    entries: readonly ClockEntry[],
    nowMs: number,
  ): Promise<unknown> {
    const runId = sessions.current()?.runId;
    if (!runId) return null;
    const keys = entries.map(({ key }) => `${prefix}clock:${key}`);
    const values = entries.flatMap(({ fence, ttlMs }) => [wire(fence), wire(ttlMs)]);
    try {
      return await redis[command](keys.length + 1, epochKey, ...keys, runId, wire(nowMs), ...values);
    } catch {
      return null;
    }
  }

  /** All batches leave together; results match the entries by position. */
  async function runAll<T>(
    command: keyof ClockCommands,
    entries: readonly ClockEntry[],
    nowMs: number,
    read: (reply: unknown, batch: readonly ClockEntry[]) => T[],
  ): Promise<T[]> {
    const batches = batchesOf(entries);
    const replies = await Promise.all(batches.map((batch) => run(command, batch, nowMs)));
    return batches.flatMap((batch, index) => read(replies[index], batch));
  }

  return {
    async touch(entries, nowMs) {
      await runAll("musterClockTouch", entries, nowMs, () => []);
    },
    renew: (entries, nowMs) => runAll("musterClockRenew", entries, nowMs, readRenewals),
    async drop(entries, nowMs) {
      const left = entries.map((entry) => ({ ...entry, fence: entry.fence + 1 }));
      await runAll("musterClockDrop", left, nowMs, () => []);
    },
    look: (entries, nowMs) => runAll("musterClockLook", entries, nowMs, readLooks),
  };
}

function batchesOf(entries: readonly ClockEntry[]): ClockEntry[][] {
  const batches: ClockEntry[][] = [];
  for (let start = 0; start < entries.length; start += ENTRIES_PER_CALL) {
    batches.push(entries.slice(start, start + ENTRIES_PER_CALL));
  }
  return batches;
}

/** Scripts compare these as numbers and store them as text, which must have no exponent. */
function wire(value: number): string {
  return String(Math.trunc(value));
}

function readRenewals(reply: unknown, batch: readonly ClockEntry[]): RenewOutcome[] {
  const outcomes = Array.isArray(reply) ? reply : [];
  return batch.map((_, index): RenewOutcome => {
    const outcome: unknown = outcomes[index];
    return outcome === "ok" || outcome === "write" || outcome === "superseded" ? outcome : "unknown";
  });
}

function readLooks(reply: unknown, batch: readonly ClockEntry[]): LookOutcome[] {
  const answers = Array.isArray(reply) ? reply : [];
  return batch.map((_, index): LookOutcome => {
    const state: unknown = answers[2 * index];
    const ms = Number(answers[2 * index + 1]);
    if (state === "alive") return { state, msLeft: ms };
    if (state === "dead") return { state, sinceMs: ms };
    return { state: "unknown" };
  });
}
