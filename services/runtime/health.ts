/** Whether a process lives, and whether it can serve: the answers behind `/livez` and `/readyz`. */

/** Rejects, or does not answer in time, when what it looks at is not usable. */
export type Check = (signal: AbortSignal) => Promise<void>;

export interface CheckResult {
  readonly ok: boolean;
  /** Why not. Never an address: everybody may ask. */
  readonly reason?: string;
}

/** Why a check failed, in words that everybody may read. */
export class CheckFailure extends Error {}

export interface HealthAnswer {
  readonly ok: boolean;
  /** Names of what is away or wrong without keeping the process from serving. Absent when all is well. */
  readonly degraded?: readonly string[];
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export type Phase = "starting" | "serving" | "draining";

export interface Health {
  phase(): Phase;
  /** The process runs. It does not ask its dependencies: restarting it would not bring them back. */
  live(): HealthAnswer;
  /** Every check passed, and the process is neither starting nor on its way out. */
  ready(): Promise<HealthAnswer>;
  /** Start-up is over. */
  started(): void;
  /** Not ready from now on, so that nothing new is sent while the last calls are answered. */
  draining(): void;
}

export interface HealthOptions {
  /** What it cannot serve without. */
  readonly checks: Readonly<Record<string, Check>>;
  /** What it serves without, if it must: to be known, not to be taken out of service for. */
  readonly lesserChecks?: Readonly<Record<string, Check>>;
  readonly timeoutMs?: number;
}

export function createHealth(options: HealthOptions): Health {
  const { lesserChecks = {}, timeoutMs = 2_000 } = options;
  const checks = { ...options.checks, ...lesserChecks };
  let phase: Phase = "starting";
  // Many who ask at once share one look, so that being watched costs nothing.
  let looking: Promise<Record<string, CheckResult>> | undefined;

  const look = async (): Promise<Record<string, CheckResult>> => {
    const names = Object.keys(checks);
    const results = await Promise.all(Object.values(checks).map((check) => runCheck(check, timeoutMs)));
    return Object.fromEntries(names.map((name, index) => [name, results[index] ?? { ok: false }]));
  };

  return {
    phase: () => phase,
    live: () => ({ ok: true, checks: {} }),
    ready: async () => {
      looking ??= look().finally(() => (looking = undefined));
      const found = await looking;
      const process: CheckResult = phase === "serving" ? { ok: true } : { ok: false, reason: phase };
      const all = { process, ...found };
      const failed = Object.entries(all).flatMap(([name, result]) => (result.ok ? [] : [name]));
      const degraded = failed.filter((name) => name in lesserChecks);
      const ok = degraded.length === failed.length;
      return { ok, ...(ok && degraded.length > 0 ? { degraded } : {}), checks: all };
    },
    started: () => {
      if (phase === "starting") phase = "serving";
    },
    draining: () => {
      phase = "draining";
    },
  };
}

async function runCheck(check: Check, timeoutMs: number): Promise<CheckResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  const late = Promise.withResolvers<CheckResult>();
  signal.addEventListener("abort", () => late.resolve({ ok: false, reason: "no answer in time" }), {
    once: true,
  });
  const result = check(signal).then(
    (): CheckResult => ({ ok: true }),
    (error: unknown): CheckResult => ({
      ok: false,
      reason: signal.aborted ? "no answer in time" : kindOf(error),
    }),
  );
  return Promise.race([result, late.promise]);
}

/** The code of a driver's error tells enough; its message may tell addresses. */
function kindOf(error: unknown): string {
  if (error instanceof CheckFailure) return error.message;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "unavailable";
}
