import { describe, expect, it } from "vitest";
import {
  DEGRADED_MODE_POLICIES,
  type DegradedModePolicy,
  judgeActor,
  judgeNobody,
} from "../../../../services/engine/actors/policy.ts";
import type { Verification } from "../../../../services/engine/actors/verification.ts";

const stale = { verifiedFromCache: "true", cacheAgeSeconds: "400" } as const;
const accepted = true;
const refused = false;

/** Rows of the table in `policy.ts`, with the verdict of each policy in its order. */
const ROWS: readonly [string, Verification, readonly [boolean, boolean, boolean]][] = [
  ["verified", { status: "verified", verifier: "jwks" }, [accepted, accepted, accepted]],
  [
    "verified with old keys",
    { status: "verified", verifier: "jwks", metadata: stale },
    [accepted, accepted, refused],
  ],
  [
    "unavailable",
    { status: "unavailable", verifier: "jwks", reason: "no keys" },
    [refused, accepted, refused],
  ],
  ["absent", { status: "absent", verifier: "jwks" }, [accepted, accepted, refused]],
  ["unchecked", { status: "unchecked", verifier: "noop" }, [accepted, accepted, refused]],
  [
    "rejected",
    { status: "rejected", verifier: "jwks", reason: "it has expired" },
    [refused, refused, refused],
  ],
];

describe("an actor whose proof is", () => {
  for (const [what, verification, verdicts] of ROWS) {
    for (const [index, policy] of DEGRADED_MODE_POLICIES.entries()) {
      const verdict = verdicts[index] === true ? "accepted" : "refused";
      it(`${what} is ${verdict} under ${policy}`, () => {
        expect(judgeActor(verification, policy).kind).toBe(verdict);
      });
    }
  }

  it("refused is told why, what to do, and whether the same proof may do later", () => {
    const judge = (verification: Verification, policy: DegradedModePolicy) =>
      judgeActor(verification, policy);
    expect(
      judge({ status: "rejected", verifier: "jwks", reason: "it has expired" }, "accept-cached"),
    ).toEqual({
      kind: "refused",
      message: "the proof was rejected: it has expired",
      hint: expect.stringContaining("new proof") as string,
      passing: false,
    });
    expect(judge({ status: "unavailable", verifier: "jwks", reason: "no keys" }, "reject")).toMatchObject({
      message: "the proof cannot be checked now: no keys",
      passing: true,
    });
  });
});

it("a change without an actor is refused where names have to be proven, and only there", () => {
  expect(DEGRADED_MODE_POLICIES.map((policy) => judgeNobody(policy).kind)).toEqual([
    "accepted",
    "accepted",
    "refused",
  ]);
});
