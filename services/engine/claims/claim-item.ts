/**
 * `claim_item`: claims first, then releases, then refreshes, each judged by itself. An
 * empty claim may wait: ticket, claim, wait. A wake-up only says that it is worth looking;
 * what was missed is found at the waiter's own pace.
 */
import type { IdempotencyRecord } from "../../../db/stores/idempotency-store.ts";
import type { ClaimEntry, ClaimRefused, ClaimResult } from "../../contract/claiming.ts";
import { CLAIM_REFUSALS } from "../../contract/claiming.ts";
import type { ClaimItemInput, ClaimItemOutput } from "../../contract/operations/claim-item.ts";
import type { MusterError } from "../../contract/errors.ts";
import { asFault } from "../database-fault.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { type Identified, identify, mintSession } from "../identity.ts";
import { requireItem } from "../resolve-items.ts";
import { describeCall, recordFor } from "../writing/write-call.ts";
import { faultResult } from "./claim-answers.ts";
import type { ClaimCall, ClaimTarget } from "./claim-call.ts";
import type { ClaimState } from "./claim-lane.ts";
import { claimOne } from "./claim-one.ts";
import { withBrief } from "../context/with-brief.ts";
import { toPredicate } from "./predicate.ts";
import { refreshClaims } from "./refresh-claims.ts";
import { releaseClaim } from "./release-claim.ts";
import type { Waiters } from "./waiters.ts";
import type { Looker } from "../access.ts";

export interface ClaimServices {
  readonly deps: EngineDeps;
  readonly state: ClaimState;
  readonly waiters: Waiters;
}

export async function claimItem(
  services: ClaimServices,
  input: ClaimItemInput,
  caller: Caller,
): Promise<ClaimItemOutput> {
  const { deps, state } = services;
  const stated = identify(input.actor, input.workerId, caller);
  const minted = stated.session ?? mintSession();
  const who: Identified = { ...stated, session: minted, author: { ...stated.author, session: minted } };
  // Heartbeats repeat nothing: a call of nothing else has no fingerprint to work out.
  const repeats = input.claims.length + input.releases.length > 0;
  const call = repeats ? describeCall("claim_item", input, caller) : null;
  let workerId = minted;
  let replayed = false;
  const claims: ClaimResult[] = [];
  for (const [index, entry] of input.claims.entries()) {
    const claimed = await claimEntry(services, entry, {
      who,
      caller,
      record: call === null ? null : recordFor(call, `c${index}`),
      capabilities: input.capabilities ?? [],
      waitSeconds: input.waitSeconds,
    });
    claims.push(claimed.result);
    workerId = claimed.session;
    replayed ||= "replayed" in claimed.result && claimed.result.replayed === true;
  }
  const releases = [];
  for (const [index, entry] of input.releases.entries()) {
    releases.push(
      await releaseClaim(
        deps,
        entry,
        who,
        { record: call === null ? null : recordFor(call, `r${index}`), audit: caller.record },
        caller,
      ),
    );
  }
  const refreshes = await refreshClaims(deps, state.renewals, state.memory, input.refreshes, who, caller);
  return { claims, releases, refreshes, workerId, ...(replayed ? { replayed: true } : {}) };
}

export interface ClaimContext {
  readonly who: Identified;
  readonly caller: Caller;
  /** The key of this claim within its call. */
  readonly record: IdempotencyRecord | null;
  readonly capabilities: readonly string[];
  readonly waitSeconds: number;
}

/** One claim entry, waiting if it was asked to. */
export async function claimEntry(
  services: ClaimServices,
  entry: ClaimEntry,
  context: ClaimContext,
): Promise<{ readonly result: ClaimResult; readonly session: string }> {
  const { deps, state, waiters } = services;
  const { who } = context;
  const session = who.session ?? mintSession();
  try {
    const call = await toCall(deps, entry, context, session);
    const claimed = await waiters.until(context.waitSeconds * 1000, context.caller.signal, () =>
      claimOne(deps, state, call),
    );
    return { ...claimed, result: await withBrief(deps, entry, claimed.result) };
  } catch (error) {
    const result = elementFault(entry, asFault(error));
    if (result === null) throw error;
    return { result, session };
  }
}

export async function toCall(
  deps: EngineDeps,
  entry: ClaimEntry,
  context: ClaimContext,
  session: string,
): Promise<ClaimCall> {
  const { who, caller } = context;
  return {
    target: await toTarget(deps, entry, context.capabilities, caller),
    agent: who.agent ?? "",
    session,
    parentAgent: who.parentAgent,
    capabilities: context.capabilities,
    author: who.author,
    ttlMs: entry.ttlSeconds * 1000,
    start: entry.start,
    fence: entry.fence ?? null,
    claimRef: entry.claimRef ?? null,
    record: context.record,
    deadFence: null,
    signal: caller.signal,
    audit: caller.record,
  };
}

async function toTarget(
  deps: EngineDeps,
  entry: ClaimEntry,
  capabilities: readonly string[],
  caller: Looker,
): Promise<ClaimTarget> {
  if (entry.itemId !== undefined)
    return { kind: "item", itemId: await requireItem(deps.db, entry.itemId, caller) };
  return {
    kind: "selector",
    predicate: await toPredicate(
      deps.db,
      entry.selector ?? EMPTY_SELECTOR,
      entry.start,
      capabilities,
      caller,
    ),
  };
}

const EMPTY_SELECTOR = { orderBy: "priority", containers: false, startable: false } as const;

/** What concerns this claim alone is its result; anything else is the whole call's error. */
function elementFault(entry: ClaimEntry, error: MusterError): ClaimRefused | null {
  const outcome = error.code === "RESOURCE_NOT_FOUND" ? "not_found" : error.code;
  const known = CLAIM_REFUSALS.find((code) => code === outcome);
  if (known === undefined || known === "idempotency_mismatch") return null;
  return {
    ...faultResult(entry.claimRef ?? null, error, known),
    ...(entry.itemId === undefined ? {} : { itemId: entry.itemId }),
  };
}
