/**
 * `npm start` and `npm test` run us below a shell. Whoever ends npm by a signal ends that shell,
 * which does not pass the signal on: the process would live on with nobody to stop it. So it looks
 * whether its parent is still the one it started under.
 */

const LOOK_EVERY_MS = 500;

/** Whether an npm script started this process (or one that this process descends from). */
export function startedByNpm(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment["npm_lifecycle_event"] !== undefined;
}

/** Calls back once when the parent process is gone. It keeps nothing alive; the result ends the watch. */
export function whenOrphaned(act: () => void, parentNow: () => number = () => process.ppid): () => void {
  const parent = parentNow();
  const timer = setInterval(() => {
    if (parentNow() === parent) return;
    clearInterval(timer);
    act();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
