/**
 * What the main thread and the heartbeat thread say to each other.
 *
 * Each tenure has a small piece of shared memory, because a message is only read when
 * the event loop gets to it. The main thread may have been blocked for minutes: when
 * its timers run at last, the renewals made meanwhile must count before the timer that
 * would give the claim up. And an ended tenure must stop being renewed at once, not
 * after whatever is queued before the message that says so. The memory belongs to one
 * tenure and is never used again, so a late write cannot reach the next one.
 */
import type { Agent } from "./client.ts";
import type { LossCause } from "./errors.ts";

/** Positions in the shared memory of a tenure. */
const STATE = 0;
const TRUSTED_UNTIL_US = 1;

const ENDED = 0n;
const HELD = 1n;
/** The result is being handed in: renew only if that takes so long that it must be. */
const ENDING = 2n;
const LOST = 3n;

type CellState = "ended" | "held" | "ending" | "lost";
const STATES: ReadonlyMap<bigint, CellState> = new Map([
  [ENDED, "ended"],
  [HELD, "held"],
  [ENDING, "ending"],
  [LOST, "lost"],
]);

/** The shared memory of one tenure: whether to renew it, and until when it is trusted. */
export interface TenureCell {
  readonly memory: SharedArrayBuffer;
  state(): CellState;
  trustedUntilMs(): number;
  /** Only the heartbeat thread calls it. Never moves back, and never revives an ended tenure. */
  extend(trustedUntilMs: number): void;
  /** Returns false when the tenure had ended before: then there is nothing to lose. */
  lose(): boolean;
  beginEnding(): void;
  end(): void;
}

/** Makes the memory of a new tenure, or opens what the other thread made. */
export function openCell(memory: SharedArrayBuffer): TenureCell {
  const cells = new BigInt64Array(memory);
  const trustedUntilMs = (): number => Number(Atomics.load(cells, TRUSTED_UNTIL_US)) / 1000;
  return {
    memory,
    state: () => STATES.get(Atomics.load(cells, STATE)) ?? "ended",
    trustedUntilMs,
    extend(untilMs) {
      if (untilMs > trustedUntilMs()) Atomics.store(cells, TRUSTED_UNTIL_US, toMicros(untilMs));
    },
    lose() {
      const before = Atomics.compareExchange(cells, STATE, HELD, LOST);
      return before === HELD;
    },
    beginEnding: () => void Atomics.compareExchange(cells, STATE, HELD, ENDING),
    end: () => void Atomics.store(cells, STATE, ENDED),
  };
}

export function createCell(trustedUntilMs: number): TenureCell {
  const memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
  const cells = new BigInt64Array(memory);
  Atomics.store(cells, TRUSTED_UNTIL_US, toMicros(trustedUntilMs));
  Atomics.store(cells, STATE, HELD);
  return openCell(memory);
}

function toMicros(ms: number): bigint {
  return BigInt(Math.floor(ms * 1000));
}

/** What the thread needs to talk to the server on its own. */
export interface HeartbeatSetup {
  readonly urls: readonly string[];
  readonly token?: string | undefined;
  readonly agent: Agent;
  readonly workerId: string;
}

/** One tenure to keep alive. */
export interface Beat {
  readonly itemId: string;
  readonly fence: number;
  readonly ttlMs: number;
  readonly memory: SharedArrayBuffer;
}

/** The only thing to say: everything else about a tenure is in its shared memory. */
export interface ToThread {
  readonly type: "attach";
  readonly beat: Beat;
}

export type FromThread =
  | { readonly type: "ready" }
  | { readonly type: "lost"; readonly itemId: string; readonly fence: number; readonly lossCause: LossCause }
  /** Sent before each round; how late it is read tells how long the main thread was blocked. */
  | { readonly type: "round"; readonly sentAtMs: number }
  | { readonly type: "renewed"; readonly count: number }
  | { readonly type: "trouble"; readonly message: string; readonly code: string };
