/**
 * Milliseconds of the machine's monotonic clock, the same for every thread of the
 * process. `performance.now()` starts anew in each thread, so that two of them
 * could not compare what they measured.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
