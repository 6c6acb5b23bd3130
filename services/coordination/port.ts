/**
 * What Redis does for a fleet and one process does for itself.
 *
 * Everything behind this port may be lost at any moment: Postgres decides who holds
 * an item, the clock below only says how lately a holder was heard. A wiped, frozen,
 * unreachable or failed-over adapter answers `unknown` (or throws nothing and loses
 * the call), which at worst delays a takeover by half a ttl.
 *
 * All instants are milliseconds of the database's clock, handed in by the caller, so
 * that replicas with different wall clocks agree and tests can move time.
 */

/**
 * One claim or lease as the clock knows it. `key` names the item or the resource.
 * `ttlMs` is what the database says; the clock's own copy only serves to notice a change.
 */
export interface ClockEntry {
  readonly key: string;
  /** A safe integer, as is the instant beside it. */
  readonly fence: number;
  readonly ttlMs: number;
}

/**
 * `ok`: heard, nothing else to do. `write`: heard, and the database may have less than
 * half a ttl left, so extend it before answering and `touch` afterwards. That is: half a
 * ttl has passed since the last `touch`, the ttl changed, the clock had no entry, or what
 * it had is older than its memory's last loss or lies in the future. Asked again without
 * a `touch`, it says `write` again. `superseded`: a higher fence is known. `unknown`: the
 * clock cannot say; treat it as `write`.
 */
export type RenewOutcome = "ok" | "write" | "unknown" | "superseded";

/**
 * `alive`: heard less than a ttl ago; heard exactly a ttl ago is dead. `dead`: silent for
 * `sinceMs` longer than the ttl, or a higher fence has been known for `sinceMs`. Never
 * `dead` while the store remembers less than a ttl: what it lost may have been a renewal.
 */
export type LookOutcome =
  | { readonly state: "alive"; readonly msLeft: number }
  | { readonly state: "dead"; readonly sinceMs: number }
  | { readonly state: "unknown" };

/** Array arguments and results match by position. No method rejects because the store is away. */
export interface ClaimClock {
  /** The database was just written for these: (re)start their ttl. A lower fence changes nothing, and no touch moves back when a fence was last heard. */
  touch(entries: readonly ClockEntry[], nowMs: number): Promise<void>;
  renew(entries: readonly ClockEntry[], nowMs: number): Promise<RenewOutcome[]>;
  /**
   * The tenure ended: leaves fence + 1 behind, so that a late renewal is `superseded`.
   * Until that next fence is touched, a look for it is `unknown`. May be repeated.
   */
  drop(entries: readonly ClockEntry[], nowMs: number): Promise<void>;
  look(entries: readonly ClockEntry[], nowMs: number): Promise<LookOutcome[]>;
}

export interface CachedAnswer {
  readonly fingerprint: string;
  /** JSON text as stored. */
  readonly answer: string;
}

/** Spares Postgres repeated questions; Postgres decides. */
export interface IdempotencyCache {
  get(key: string): Promise<CachedAnswer | "in_flight" | null>;
  /** True if this caller now holds the in-flight marker; it goes by itself after `ttlMs`. True also when the store is away. */
  begin(key: string, ttlMs: number): Promise<boolean>;
  answer(key: string, value: CachedAnswer, ttlMs: number): Promise<void>;
  /** Takes this process's marker back when nothing was stored. */
  abandon(key: string): Promise<void>;
}

/**
 * Take a ticket, run the query, then wait: a publish between the two is not missed.
 * A lost connection counts, once it is back, as a publish to every topic, since one may
 * have been missed. A publish reaches the publishing process even while the store is away.
 */
export interface WakeUps {
  ticket(topics: readonly string[]): WakeTicket;
  /** Fire and forget; never rejects. */
  publish(topics: readonly string[]): void;
}

export interface WakeTicket {
  /** True at once if anything was published since the ticket was taken; false at the timeout, the abort or either close. Renews the ticket. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  /** True if anything was published since; does not wait, does not renew. */
  stale(): boolean;
  close(): void;
}

export interface CountResult {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

/**
 * Fixed windows shared by every replica; a window starts with the first cost it takes, in
 * real time. What is refused costs nothing. When the store is away the process counts alone.
 */
export interface Counters {
  take(key: string, limit: number, windowMs: number, cost: number): Promise<CountResult>;
}

/** Something that may be used for one purpose only, and when it may have been used before. */
export interface SingleUse {
  readonly key: string;
  /** Using it again for the same is not another use. */
  readonly purpose: string;
  /** When it was made: it cannot have been used earlier. */
  readonly madeAtMs: number;
  /** How long it is to be remembered, in real time: at least until nobody would take it any more. */
  readonly lifeMs: number;
}

/**
 * `fresh`: not used before, as far back as it can have been. `again`: used before, for the same.
 * `spent`: used for something else. `unknown`: the store is away, or its memory does not reach
 * back to when the thing was made; nothing was noted then.
 */
export type UseOutcome = "fresh" | "again" | "spent" | "unknown";

/** Lets something be used once, whichever replica it comes to. Does not reject because the store is away. */
export interface SingleUses {
  use(use: SingleUse, nowMs: number): Promise<UseOutcome>;
}

export interface CoordinationHealth {
  readonly state: "up" | "down";
  /** Set when the store runs in a way that can lose what must not be lost, such as an evicting policy. */
  readonly fault?: string;
  /**
   * Since when the store remembers, as an instant of the database's clock; null when it has been
   * asked nothing since its memory began. Absent where that cannot be told.
   */
  readonly remembersSinceMs?: number | null;
}

export interface Coordination {
  readonly claimClock: ClaimClock;
  readonly idempotency: IdempotencyCache;
  readonly wakeUps: WakeUps;
  readonly counters: Counters;
  readonly singleUses: SingleUses;
  /** Waits shortly for the first connection, so that a start can be followed by it. Never rejects. */
  health(): Promise<CoordinationHealth>;
  /** Ends every wait and leaves no handle open. Calls that come later do not reject either. */
  close(): Promise<void>;
}
