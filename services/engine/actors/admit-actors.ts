/**
 * The gate before every use case: who acts, as far as that can be proven.
 *
 *   actors of the input -> each distinct proof is verified once -> the policy judges
 *     -> refused: the whole call, `rejected_by_policy`, before anything was read or written
 *     -> accepted: the proof is taken off; the verified identity stands in for the stated name
 *
 * Nothing behind this gate sees a proof, so nothing behind it can store or show one. Nothing
 * here runs inside a transaction: keys may have to be fetched.
 *
 * A proof may be limited to one call. It is then spent together with that call's requestId and
 * input: a retry of the very same call, which changes nothing a second time, may bring it again.
 */
import { createHash, randomUUID } from "node:crypto";
import { fault } from "../../contract/errors.ts";
import { operationByName } from "../../contract/registry.ts";
import type { Coordination } from "../../coordination/port.ts";
import type { DatabaseTime } from "../database-time.ts";
import type { EngineLog } from "../deps.ts";
import { fingerprint } from "../idempotency.ts";
import type { StatedActor } from "../identity.ts";
import type { ActorRules } from "./actor-rules.ts";
import { actorsOf, namesEverybody, replaceActors } from "./actors-of-input.ts";
import { judgeActor, judgeNobody, type PolicyVerdict } from "./policy.ts";
import type { Verification } from "./verification.ts";
import type { Finding, Verified } from "./verifier.ts";

export interface AdmissionDeps {
  readonly actors: ActorRules;
  readonly coordination: Pick<Coordination, "singleUses">;
  readonly time: DatabaseTime;
  readonly log: EngineLog;
}

/** Keys come back, and a memory that began anew reaches back far enough. */
const RETRY_AFTER_MS = 5_000;
/** Longer than any tolerance with which a proof is still taken after its end. */
const REMEMBERED_AFTER_END_MS = 10 * 60_000;

/**
 * Lets the memory of used proofs begin, if it has not: it does with the first call, and a
 * proof that was made before it could not be told from a used one.
 */
export async function rememberFromNow({ actors, coordination, time }: AdmissionDeps): Promise<void> {
  if (!actors.singleUseProofs) return;
  const nowMs = await time.now();
  await coordination.singleUses.use({ key: "memory", purpose: "", madeAtMs: nowMs, lifeMs: 1 }, nowMs);
}

/**
 * The input with its actors as they are known now.
 * @throws rejected_by_policy
 */
export async function admitActors(deps: AdmissionDeps, operation: string, input: unknown): Promise<unknown> {
  const { verifier, policy } = deps.actors;
  if (verifier === null && policy !== "reject") return input;
  const actors = actorsOf(input);
  if (!namesEverybody(input) && changesSomething(operation)) enforce(judgeNobody(policy));
  if (actors.length === 0) return input;
  const known = new Map<StatedActor, StatedActor>();
  const judged = new Map<string, Promise<Judged>>();
  for (const actor of actors) {
    const key = `${actor.id}\u0001${actor.proof ?? ""}`;
    let pending = judged.get(key);
    if (pending === undefined) judged.set(key, (pending = judge(deps, operation, input, actor)));
    // One after the other: of a batch with a forged proof, nothing else has to be looked at.
    const { identity, verification } = await pending;
    enforce(judgeActor(verification, policy), verification);
    known.set(actor, settled(actor, identity, verification));
  }
  return replaceActors(input, known);
}

interface Judged {
  /** Whom the proof names; null if there is none that counts. */
  readonly identity: string | null;
  readonly verification: Verification;
}

async function judge(
  deps: AdmissionDeps,
  operation: string,
  input: unknown,
  actor: StatedActor,
): Promise<Judged> {
  const { verifier } = deps.actors;
  const { proof } = actor;
  const name = verifier?.name ?? "noop";
  if (proof === undefined) return { identity: null, verification: { status: "absent", verifier: name } };
  if (verifier === null) return { identity: null, verification: { status: "unchecked", verifier: name } };
  const nowMs = await deps.time.now();
  const found = await verifier.verify({ text: proof, statedId: actor.id, nowMs });
  const finding =
    found.status === "verified" && deps.actors.singleUseProofs
      ? await spend(deps, found, purposeOf(operation, input), nowMs)
      : found;
  if (finding.status !== "verified") {
    const { status, reason } = finding;
    deps.log.warn({ operation, agent: actor.id, status, reason }, "proof of an actor not accepted");
  }
  return {
    identity: finding.status === "verified" ? finding.identity : null,
    verification: recorded(finding, name, proof),
  };
}

/** Notes that a proof was used, for all replicas. */
async function spend(deps: AdmissionDeps, proof: Verified, purpose: string, nowMs: number): Promise<Finding> {
  const { tokenId, issuer, issuedAtMs, expiresAtMs } = proof;
  if (tokenId === null || issuedAtMs === null) {
    return {
      status: "rejected",
      failureKind: "claims",
      reason: "a proof that serves once needs jti and iat",
    };
  }
  const outcome = await deps.coordination.singleUses.use(
    {
      key: `proof:${sha256(`${issuer ?? ""}\0${tokenId}`)}`,
      purpose,
      madeAtMs: issuedAtMs,
      lifeMs: Math.max(0, expiresAtMs - nowMs) + REMEMBERED_AFTER_END_MS,
    },
    nowMs,
  );
  switch (outcome) {
    case "fresh":
    case "again":
      return proof;
    case "spent":
      return {
        status: "rejected",
        failureKind: "policy",
        reason: "it was used for another call; each needs its own",
      };
    case "unknown":
      return {
        status: "unavailable",
        reason: "whether it was used before cannot be told, so make a new one",
      };
  }
}

/** What a proof is spent for. A call that cannot be repeated is a purpose of its own. */
function purposeOf(operation: string, input: unknown): string {
  const call = input as { readonly requestId?: unknown };
  return typeof call.requestId === "string"
    ? sha256(`${call.requestId}\0${fingerprint(operation, call)}`)
    : randomUUID();
}

function recorded(finding: Finding, verifier: string, proof: string): Verification {
  const digest = sha256(proof);
  switch (finding.status) {
    case "verified": {
      const { staleForMs, claims } = finding;
      return {
        status: "verified",
        verifier,
        ...(staleForMs === null
          ? {}
          : {
              metadata: {
                verifiedFromCache: "true",
                cacheAgeSeconds: String(Math.floor(staleForMs / 1000)),
              },
            }),
        proof: { sha256: digest, claims },
      };
    }
    case "rejected": {
      const { reason, failureKind } = finding;
      return { status: "rejected", verifier, reason, metadata: { failureKind }, proof: { sha256: digest } };
    }
    case "unavailable":
      return {
        status: "unavailable",
        verifier,
        reason: finding.reason,
        metadata: { failureKind: "network" },
        proof: { sha256: digest },
      };
  }
}

/** The actor as use cases see it. */
function settled(actor: StatedActor, identity: string | null, verification: Verification): StatedActor {
  const { proof: _proof, ...rest } = actor;
  if (verification.verifier === "noop") return rest;
  if (identity === null || identity === actor.id) return { ...rest, verification };
  return { ...rest, id: identity, statedId: actor.id, verification };
}

function enforce(verdict: PolicyVerdict, verification?: Verification): void {
  if (verdict.kind === "accepted") return;
  const { message, hint, passing } = verdict;
  const failureKind = verification?.metadata?.failureKind;
  throw fault("rejected_by_policy", message, {
    hint,
    ...(passing ? { retryAfterMs: RETRY_AFTER_MS } : {}),
    ...(verification === undefined
      ? {}
      : {
          details: {
            verification: verification.status,
            ...(failureKind === undefined ? {} : { failureKind }),
          },
        }),
  });
}

function changesSomething(operation: string): boolean {
  return operationByName.get(operation)?.annotations.readOnlyHint === false;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
