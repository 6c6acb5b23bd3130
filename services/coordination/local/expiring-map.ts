/**
 * A map whose entries end by themselves, without a timer: every write looks at two more
 * entries and removes those that have ended. A write adds at most one, so a pass over n
 * entries takes at most n writes: garbage stays within a constant factor of what is alive,
 * and no single write pays for all of it.
 */

interface Entry<V> {
  readonly value: V;
  readonly endsAtMs: number;
}

const VISITS_PER_WRITE = 2;

export interface ExpiringMapOptions<V> {
  /** Real time that never goes back; not the database's clock, which tests move. */
  readonly monotonicMs: () => number;
  /** Told of every entry that leaves: replaced, deleted or ended. */
  readonly onLeave?: (value: V) => void;
}

export class ExpiringMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #monotonicMs: () => number;
  readonly #onLeave: ((value: V) => void) | undefined;
  #visitor: Iterator<[string, Entry<V>]> | undefined;

  constructor({ monotonicMs, onLeave }: ExpiringMapOptions<V>) {
    this.#monotonicMs = monotonicMs;
    this.#onLeave = onLeave;
  }

  /** Entries held, ended ones that were not visited yet included. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.endsAtMs > this.#monotonicMs() ? entry.value : undefined;
  }

  /** Real time left to a live entry, else 0. */
  msLeft(key: string): number {
    const entry = this.#entries.get(key);
    return entry ? Math.max(0, entry.endsAtMs - this.#monotonicMs()) : 0;
  }

  /** Stores the value for `lifeMs` from now. */
  set(key: string, value: V, lifeMs: number): void {
    this.delete(key);
    this.#entries.set(key, { value, endsAtMs: this.#monotonicMs() + lifeMs });
    this.#collect();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#onLeave?.(entry.value);
  }

  /** Removes the entry that was written longest ago. */
  deleteOldest(): void {
    for (const key of this.#entries.keys()) {
      this.delete(key);
      return;
    }
  }

  #collect(): void {
    const nowMs = this.#monotonicMs();
    for (let visit = 0; visit < VISITS_PER_WRITE; visit += 1) {
      // An iterator of a Map stays valid while entries come and go.
      this.#visitor ??= this.#entries.entries();
      const next = this.#visitor.next();
      if (next.done) {
        this.#visitor = undefined;
        return;
      }
      const [key, entry] = next.value;
      if (entry.endsAtMs <= nowMs) this.delete(key);
    }
  }
}
