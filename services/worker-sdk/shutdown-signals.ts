import { constants } from "node:os";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
type ShutdownSignal = (typeof SIGNALS)[number];

/**
 * Calls `onFirst` at the first SIGTERM or SIGINT; a second one ends the process at once,
 * for whoever does not want to wait for handlers. Returns what takes the listeners off.
 */
export function onShutdownSignal(onFirst: (signal: string) => void): () => void {
  let seen = false;
  const listen = (signal: ShutdownSignal) => (): void => {
    if (seen) process.exit(128 + constants.signals[signal]);
    seen = true;
    onFirst(signal);
  };
  const listeners = SIGNALS.map((signal) => [signal, listen(signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}
