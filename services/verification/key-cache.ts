/**
 * Keys that are loaded when they are needed, and kept for a while.
 *
 * - Everybody who needs them meanwhile shares one attempt.
 * - Past their time they are loaded anew before they are used. If that fails they may still
 *   serve, marked as stale, for a day at most: a key that was revoked must not live on for
 *   ever because its source is kept from us.
 * - A source that failed is left alone for a moment, so that callers do not each wait for it.
 * - A key that is not among them may be newer than they are: they are loaded anew, but not
 *   for every proof that somebody makes up.
 */
import { KeysUnavailable } from "./keys-unavailable.ts";

const STALE_MS_MAX = 24 * 60 * 60 * 1000;
const RETRY_AFTER_MS = 5_000;
const REFETCH_COOLDOWN_MS = 10_000;

export interface KeptKeys<K> {
  readonly keys: K;
  /** How old they are, if they are past their time; else null. */
  readonly staleForMs: number | null;
  readonly loadedAtMs: number;
}

export interface KeyCacheOptions<K> {
  /** @throws KeysUnavailable */
  readonly load: () => Promise<K>;
  readonly ttlMs: number;
  readonly staleOnError: boolean;
  /** Real time that never goes back. */
  readonly monotonicMs: () => number;
}

export class KeyCache<K> {
  readonly #options: KeyCacheOptions<K>;
  #kept: { readonly keys: K; readonly loadedAtMs: number } | null = null;
  #loading: Promise<void> | null = null;
  #failed: { readonly atMs: number; readonly error: KeysUnavailable } | null = null;
  #refetchedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: KeyCacheOptions<K>) {
    this.#options = options;
  }

  /** @throws KeysUnavailable */
  async current(): Promise<KeptKeys<K>> {
    const { ttlMs, staleOnError } = this.#options;
    if (this.#ageMs() >= ttlMs) await this.#loadUnlessJustFailed();
    const ageMs = this.#ageMs();
    if (this.#kept !== null && ageMs < ttlMs) return { ...this.#kept, staleForMs: null };
    if (this.#kept !== null && staleOnError && ageMs < STALE_MS_MAX)
      return { ...this.#kept, staleForMs: ageMs };
    throw this.#failed?.error ?? new KeysUnavailable("the keys are not there");
  }

  /**
   * Keys that are newer than those in which one was not found; null if there are none.
   * @throws KeysUnavailable if nobody can say whether there are.
   */
  async newerThan(used: KeptKeys<K>): Promise<KeptKeys<K> | null> {
    if (this.#kept?.loadedAtMs === used.loadedAtMs) {
      const nowMs = this.#options.monotonicMs();
      if (this.#failed === null && nowMs - this.#refetchedAtMs < REFETCH_COOLDOWN_MS) return null;
      this.#refetchedAtMs = nowMs;
      await this.#loadUnlessJustFailed();
      if (this.#failed !== null) throw this.#failed.error;
    }
    return this.#kept === null ? null : { ...this.#kept, staleForMs: null };
  }

  #ageMs(): number {
    return this.#kept === null
      ? Number.POSITIVE_INFINITY
      : this.#options.monotonicMs() - this.#kept.loadedAtMs;
  }

  async #loadUnlessJustFailed(): Promise<void> {
    const failedAgoMs = this.#options.monotonicMs() - (this.#failed?.atMs ?? Number.NEGATIVE_INFINITY);
    if (failedAgoMs >= RETRY_AFTER_MS) await this.#load();
  }

  async #load(): Promise<void> {
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = null;
    });
    await this.#loading;
  }

  async #loadOnce(): Promise<void> {
    const { load, monotonicMs } = this.#options;
    try {
      const keys = await load();
      this.#kept = { keys, loadedAtMs: monotonicMs() };
      this.#failed = null;
    } catch (error) {
      const unavailable =
        error instanceof KeysUnavailable ? error : new KeysUnavailable("the keys cannot be read", error);
      this.#failed = { atMs: monotonicMs(), error: unavailable };
    }
  }
}
