/** How this server knows its actors; what the configuration says, made of adapters by the composition root. */
import type { DegradedModePolicy } from "./policy.ts";
import type { ProofVerifier } from "./verifier.ts";

export interface ActorRules {
  /** Null: nothing is verified, and nothing about it is recorded. */
  readonly verifier: ProofVerifier | null;
  readonly policy: DegradedModePolicy;
  /** A proof serves one call only. */
  readonly singleUseProofs: boolean;
}

/** As task-orchestrator is set up out of the box. */
export const UNVERIFIED: ActorRules = { verifier: null, policy: "accept-cached", singleUseProofs: false };
