/**
 * Work that is done again and again at a pace of its own: the sweep, the outbox, the timers.
 *
 * Events only nudge a loop; none carries work. A nudge that is lost therefore costs at most one
 * interval, and a burst of them costs one run. Runs never overlap. A failed run is reported, and
 * the next one comes later and later until one succeeds: a loop survives every outage.
 */
import { type Backoff, backoffMs } from "./backoff.ts";

export interface PacedLoopOptions {
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Part of the interval that varies, so that replicas do not run in step. 0.2 means ±20 %. */
  readonly jitter?: number;
  /** Does the work once. `true` asks for the next run at once: there was more than one run takes. */
  readonly run: (signal: AbortSignal) => Promise<boolean | void>;
  readonly onError: (error: unknown, failures: number) => void;
  readonly backoff?: Backoff;
  /** The first run comes at once unless this says otherwise. */
  readonly waitFirst?: boolean;
}

export interface PacedLoop {
  readonly name: string;
  start(): void;
  /** Runs as soon as possible. During a run it asks for one more, which sees what the first missed. */
  nudge(): void;
  /** Resolves after a run that began after this call has ended, however it ended. For tests and drains. */
  ranOnce(): Promise<void>;
  /** Aborts the run's signal and resolves when the run has ended. No run begins afterwards. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createPacedLoop(options: PacedLoopOptions): PacedLoop {
  return new Loop(options);
}

class Loop implements PacedLoop {
  readonly #options: PacedLoopOptions;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  #finished: Promise<void> | undefined;
  #nudged = false;
  #wake: (() => void) | undefined;
  /** Belongs to the next run to begin; a run that has begun took its own along. */
  #endOfNext = Promise.withResolvers<void>();

  constructor(options: PacedLoopOptions) {
    this.#options = options;
    this.#backoff = options.backoff ?? { firstMs: options.everyMs, maxMs: Math.max(options.everyMs, 30_000) };
    this.#nudged = options.waitFirst !== true;
  }

  get name(): string {
    return this.#options.name;
  }

  start(): void {
    if (this.#stopping.signal.aborted) throw new Error(`The loop ${this.name} was stopped.`);
    this.#finished ??= this.#loop();
  }

  nudge(): void {
    this.#nudged = true;
    this.#wake?.();
  }

  ranOnce(): Promise<void> {
    return this.#endOfNext.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`The loop ${this.name} stops.`));
    this.#wake?.();
    await this.#finished;
    this.#endOfNext.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #loop(): Promise<void> {
    let failures = 0;
    let pauseMs = this.#interval();
    while (!this.#stopping.signal.aborted) {
      await this.#pause(pauseMs);
      if (this.#stopping.signal.aborted) return;
      const again = await this.#runOnce(failures + 1);
      failures = again === "failed" ? failures + 1 : 0;
      if (again === "more") this.#nudged = true;
      pauseMs = failures > 0 ? backoffMs(this.#backoff, failures) : this.#interval();
    }
  }

  /** A nudge ends a pause, also one that follows a failure: it may be the sign that the outage is over. */
  async #pause(ms: number): Promise<void> {
    if (!this.#nudged) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#nudged = false;
  }

  async #runOnce(failuresIfFailed: number): Promise<"idle" | "more" | "failed"> {
    const end = this.#endOfNext;
    this.#endOfNext = Promise.withResolvers<void>();
    try {
      const more = await this.#options.run(this.#stopping.signal);
      return more === true ? "more" : "idle";
    } catch (error) {
      // What an aborted run throws is how it stops.
      if (!this.#stopping.signal.aborted) this.#options.onError(error, failuresIfFailed);
      return "failed";
    } finally {
      end.resolve();
    }
  }

  #interval(): number {
    const { everyMs, jitter = 0.2 } = this.#options;
    return everyMs * (1 + jitter * (2 * Math.random() - 1));
  }
}
