import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 10;

/** Waits for an event of another process by asking for it; fails after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Still not so after ${timeoutMs} ms: ${String(condition)}`);
    await delay(POLL_MS);
  }
}
