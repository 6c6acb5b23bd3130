/** Room for a slow caller after the last instant at which an entry can matter. */
export const RETENTION_MARGIN_MS = 10_000;

/** A multiple of the ttl. */
export const RETENTION_TTLS = 1.5;

/**
 * How long an entry of the claim clock is kept after its last write, in real time. This
 * only collects garbage: what is `dead` must stay `dead` until the database alone calls
 * the claim lapsed (its expiry plus half a ttl, so at most one and a half ttls after the
 * last renewal). With less, an item that nobody asked for in time would turn back from
 * `dead` to `unknown`, just when the sweep comes to look at it.
 */
export function retentionMs(ttlMs: number): number {
  return Math.floor(ttlMs * RETENTION_TTLS) + RETENTION_MARGIN_MS;
}
