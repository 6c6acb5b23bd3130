/**
 * May a caller act, and under which name: the one it stated, or the one that its proof verified?
 *
 * |                                    | accept-cached | accept-self-reported | reject   |
 * | ---------------------------------- | ------------- | -------------------- | -------- |
 * | verified                           | verified      | verified             | verified |
 * | verified with keys past their time | verified      | verified             | refused  |
 * | unavailable                        | refused       | stated               | refused  |
 * | absent, unchecked                  | stated        | stated               | refused  |
 * | rejected                           | refused       | refused              | refused  |
 *
 * A rejected proof is refused whatever the policy: to fail to prove a name is never the same as
 * not to try. What sets the first two policies apart is a proof that cannot be checked now, not
 * even with keys past their time: `accept-self-reported` takes it for none, `accept-cached` waits.
 */
import type { Verification } from "./verification.ts";

export const DEGRADED_MODE_POLICIES = ["accept-cached", "accept-self-reported", "reject"] as const;
export type DegradedModePolicy = (typeof DEGRADED_MODE_POLICIES)[number];

export type PolicyVerdict =
  | { readonly kind: "accepted" }
  | {
      readonly kind: "refused";
      readonly message: string;
      readonly hint: string;
      /** The same proof may be accepted later. */
      readonly passing: boolean;
    };

const ACCEPTED: PolicyVerdict = { kind: "accepted" };

export function judgeActor(verification: Verification, policy: DegradedModePolicy): PolicyVerdict {
  const { status, reason } = verification;
  switch (status) {
    case "verified":
      if (policy !== "reject" || verification.metadata?.verifiedFromCache === undefined) return ACCEPTED;
      return refused(
        "the keys that check the proof are past their time, and newer ones cannot be had",
        "Send the call again once the source of the keys is back.",
        true,
      );
    case "rejected":
      return refused(`the proof was rejected: ${reason ?? "it is not valid"}`, NEW_PROOF);
    case "unavailable":
      if (policy === "accept-self-reported") return ACCEPTED;
      return refused(
        `the proof cannot be checked now: ${reason ?? "no keys"}`,
        "Nothing is known to be wrong with the proof. Send the call again shortly, best with a new one.",
        true,
      );
    case "absent":
      return policy === "reject" ? refused("the actor comes without a proof", PROVE) : ACCEPTED;
    case "unchecked":
      return policy === "reject"
        ? refused("nothing on this server can check the proof", "Ask an operator to configure a verifier.")
        : ACCEPTED;
  }
}

/** A change that nobody puts a name to, where names have to be proven. */
export function judgeNobody(policy: DegradedModePolicy): PolicyVerdict {
  return policy === "reject" ? refused("the call comes without an actor", PROVE) : ACCEPTED;
}

const NEW_PROOF = "Send a new proof that names your actor.id, made for this server.";
const PROVE = "Send actor {id, kind, proof} with a proof that this server can verify.";

function refused(message: string, hint: string, passing = false): PolicyVerdict {
  return { kind: "refused", message, hint, passing };
}
