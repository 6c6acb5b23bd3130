/** Claim outcomes as callers read them. Never who holds what. */
import type { ClaimGranted, ClaimRefused } from "../../contract/claiming.ts";
import { ERRORS, type ErrorCode, type MusterError } from "../../contract/errors.ts";
import type { Emptiness } from "../../../db/stores/emptiness-store.ts";
import { refusalElement } from "../advance/refusal.ts";
import type { ClaimCall, ClaimOutcome, GrantedAnswer } from "./claim-call.ts";

/** Past this, waiting for the answer to change beats asking again. */
const RETRY_MAX_MS = 30_000;
const RETRY_MIN_MS = 250;

export interface ReplayState {
  readonly fenceCurrent: boolean;
  /** As of now; the stored answer's own when nothing newer is known. */
  readonly expiresAt: number;
}

export function grantedResult(answer: GrantedAnswer, now: number, replay: ReplayState | null): ClaimGranted {
  const expiresAt = replay?.expiresAt ?? answer.expiresAt;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    itemId: answer.itemId,
    outcome: "success",
    ...(answer.claimRef === null ? {} : { claimRef: answer.claimRef }),
    claimedBy: answer.claimedBy,
    claimedAt: iso(answer.claimedAt),
    claimExpiresAt: iso(expiresAt),
    ...(answer.originalClaimedAt === answer.claimedAt
      ? {}
      : { originalClaimedAt: iso(answer.originalClaimedAt) }),
    ttlSeconds: answer.ttlMs / 1000,
    msLeft: replay?.fenceCurrent === false ? 0 : Math.max(0, expiresAt - now),
    fence: answer.fence,
    attempt: answer.attempt,
    ...(answer.selectorResolved ? { selectorResolved: true } : {}),
    item: answer.item as ClaimGranted["item"],
    ...(answer.started ? { started: true } : {}),
    ...(answer.warnings.length === 0 ? {} : { warnings: [...answer.warnings] }),
    ...(replay === null ? {} : { replayed: true, fenceCurrent: replay.fenceCurrent }),
  };
}

type Refusable = Exclude<ClaimOutcome, { kind: "granted" | "replayed" | "empty" }>;

export function refusedResult(
  call: Pick<ClaimCall, "target" | "claimRef">,
  outcome: Refusable,
  onCancelled: "hold" | "release",
): ClaimRefused {
  const itemId = call.target.kind === "item" ? call.target.itemId : undefined;
  const base = { ...(itemId === undefined ? {} : { itemId }), ...reference(call.claimRef) };
  switch (outcome.kind) {
    case "not_found":
      return { ...refusal("not_found", "no item has this id"), ...base };
    case "held":
      return {
        ...refusal("already_claimed", "the item is claimed"),
        ...(outcome.verdict.sameAgent
          ? {
              hint: "A claim of your own name holds it: pass the workerId or the fence that the claim returned.",
            }
          : {}),
        ...base,
        ...(itemId === undefined ? {} : { contendedItemId: itemId }),
        retryAfterMs: outcome.verdict.msLeft,
      };
    case "refused":
      return {
        ...refusal(outcome.code, CAUSES[outcome.code]),
        ...base,
        ...(outcome.code === "agent_drained" ? { retryAfterMs: RETRY_MAX_MS } : {}),
      };
    case "gone":
      return { ...refusal("draining", "the call was given up before anything was claimed"), ...base };
    case "not_startable":
      return { ...notStartable(itemId ?? "", outcome.refusal, onCancelled), ...base };
  }
}

const CAUSES = {
  terminal_item: "the item is closed",
  item_dead: "the item's attempts are used up",
  tenure_over: "the claim reached its longest tenure",
  agent_drained: "an operator has drained this agent",
} as const;

function notStartable(
  itemId: string,
  against: Extract<ClaimOutcome, { kind: "not_startable" }>["refusal"],
  onCancelled: "hold" | "release",
): ClaimRefused {
  const element = refusalElement(itemId, "start", against, [], onCancelled);
  const cause = `it cannot be started: ${String(element["error"])}`;
  if (against.code === "resource_unavailable") {
    const { keys, retryAfterMs } = against.contended;
    return { ...refusal(against.code, cause), contendedResources: [...keys], retryAfterMs };
  }
  const isOwnCode = against.code === "dependency_blocked" || against.code === "gate_blocked";
  return refusal(isOwnCode ? against.code : "invalid_transition", cause);
}

function reference(claimRef: string | null): { claimRef?: string } {
  return claimRef === null ? {} : { claimRef };
}

function refusal(outcome: ClaimRefused["outcome"], error: string): ClaimRefused {
  const entry = ERRORS[outcome];
  return { outcome, kind: entry.kind, error, hint: entry.hint };
}

/** What the replayed call had claimed is no longer there. */
export function goneResult(claimRef: string | null, itemId: string): ClaimRefused {
  const cause = "the item that this requestId claimed was deleted since";
  return { ...refusal("idempotency_target_gone", cause), itemId, ...reference(claimRef) };
}

/** A refusal made of a typed error that concerns this claim alone. */
export function faultResult(
  claimRef: string | null,
  error: MusterError,
  outcome: ClaimRefused["outcome"],
): ClaimRefused {
  return {
    outcome,
    kind: error.kind,
    error: error.message,
    hint: error.hint,
    ...reference(claimRef),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

function causeOf({ pausedRoots, probeAt }: Emptiness): string {
  if (pausedRoots === 0) return "items match, but none is free";
  const where = pausedRoots === 1 ? "their root" : `${pausedRoots} roots`;
  const next =
    probeAt === null
      ? "a probe is under way"
      : `one claim is let through as a probe at ${new Date(probeAt).toISOString()}`;
  return `items match, but claiming in ${where} is paused, since most attempts there failed for the environment's sake; ${next}`;
}

/** Nothing matched, or what matched is not free: with the reasons, counted, and when to look again. */
export function emptyResult(claimRef: string | null, why: Emptiness, busy: boolean): ClaimRefused {
  if (why.matching === 0 && !busy) {
    return { ...refusal("queue_empty", "no item matches the selector"), ...reference(claimRef) };
  }
  const untilNext = why.nextAt === null ? RETRY_MAX_MS : why.nextAt - why.now;
  const code: ErrorCode & ClaimRefused["outcome"] = "none_eligible";
  return {
    ...refusal(code, busy ? "items match, but all are being changed right now" : causeOf(why)),
    ...reference(claimRef),
    retryAfterMs: busy ? RETRY_MIN_MS : Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, untilNext)),
    ...(why.nextAt === null ? {} : { nextAt: new Date(why.nextAt).toISOString() }),
    excluded: {
      claimed: why.claimed,
      ancestorClaimed: why.ancestorClaimed,
      dependencyBlocked: why.dependencyBlocked,
      waiting: why.waiting,
      capabilities: why.capabilities,
      assignee: why.assignee,
      ...(why.independence === 0 ? {} : { independence: why.independence }),
      containers: why.containers,
      resources: why.resources,
      ...(why.pausedRoots === 0 ? {} : { paused: why.paused, pausedRoots: why.pausedRoots }),
      ...(busy ? { busy: 1 } : {}),
    },
  };
}
