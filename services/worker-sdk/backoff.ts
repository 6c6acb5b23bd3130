/** Waiting between tries: exponential, with jitter, and never past an abort. */

/** Between half of `baseMs * 2^attempt` and all of it, so that a fleet does not come back in step. */
export function backoffMs(
  attempt: number,
  baseMs: number,
  maxMs: number,
  random: number = Math.random(),
): number {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return full * (0.5 + random / 2);
}

/** Resolves after `ms`, or as soon as the signal aborts: the caller looks at the signal next. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
