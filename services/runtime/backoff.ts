/** How long to wait before the next try. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Doubles per failure up to the maximum, of which between half and all is waited: replicas that
 * lost the same database at the same moment must not come back at the same moment.
 * @param failures how many tries have failed in a row, 1 or more
 */
export function backoffMs(backoff: Backoff, failures: number, random: () => number = Math.random): number {
  const full = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random() / 2));
}
