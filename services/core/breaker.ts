/**
 * The breaker of a root: when most attempts fail for the environment's sake, more of them
 * would only burn through the items' patience.
 *
 *   closed ──most of the latest ends were the environment's──▶ open ──its wait is over──▶ probing
 *      ▲                                                        ▲                           │
 *      │                                                        └──the environment again────┤
 *      └──────────────────────────the probe got through─────────────────────────────────────┘
 *
 * While it is open nothing of the root is offered; a probe is one claim that is let through.
 */
import type { EndReason } from "./state.ts";

/** Ends that are older say nothing about the environment of now. */
export const TROUBLE_WINDOW_MS = 10 * 60_000;
/** Fewer ends are bad luck. */
const ENDS_MIN = 5;
const FIRST_WAIT_MS = 30_000;
const WAIT_MAX_MS = 15 * 60_000;

export interface RootEnds {
  /** Attempts that came to an end of their own since the first failure of the window. */
  readonly ends: number;
  /** Those of them that failed for the environment's sake. */
  readonly failures: number;
}

export type TroubleVerdict = { readonly kind: "leave" } | { readonly kind: "open"; readonly waitMs: number };

export function judgeTrouble({ ends, failures }: RootEnds): TroubleVerdict {
  if (ends < ENDS_MIN || failures * 2 <= ends) return { kind: "leave" };
  return { kind: "open", waitMs: FIRST_WAIT_MS };
}

/** How a probe ended; null if its attempt is gone, as when its item was deleted. */
export type ProbeEnd = {
  readonly reason: EndReason;
  readonly failure: "item" | "environment" | null;
} | null;

export type ProbeVerdict =
  | { readonly kind: "close" }
  /** Another probe after so long. */
  | { readonly kind: "wait"; readonly waitMs: number; readonly probes: number };

/** @param probes how many have failed before */
export function judgeProbe(probes: number, end: ProbeEnd): ProbeVerdict {
  // An item that fails by its own fault got far enough: the environment carried it there.
  if (end?.reason === "completed" || (end?.reason === "failed" && end.failure !== "environment")) {
    return { kind: "close" };
  }
  // Who let go of it, or was never heard again, has found out nothing.
  const failed = end?.reason === "failed" ? probes + 1 : probes;
  return { kind: "wait", waitMs: Math.min(WAIT_MAX_MS, FIRST_WAIT_MS * 2 ** failed), probes: failed };
}
