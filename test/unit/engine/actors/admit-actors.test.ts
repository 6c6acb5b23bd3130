import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createLocalCoordination } from "../../../../services/coordination/local/local-coordination.ts";
import type { ActorRules } from "../../../../services/engine/actors/actor-rules.ts";
import {
  type AdmissionDeps,
  admitActors,
  rememberFromNow,
} from "../../../../services/engine/actors/admit-actors.ts";
import type { Finding, Proof, Verified } from "../../../../services/engine/actors/verifier.ts";

const NOW_MS = Date.UTC(2030, 0, 1);
const ANN = { id: "ann", kind: "subagent" };
const PROVEN = { ...ANN, proof: "a good proof" };

const VERIFIED: Verified = {
  status: "verified",
  identity: "ann",
  issuer: "https://id.example",
  tokenId: "t1",
  issuedAtMs: NOW_MS - 1_000,
  expiresAtMs: NOW_MS + 60_000,
  claims: { sub: "ann" },
  staleForMs: null,
};
const FORGED: Finding = { status: "rejected", failureKind: "crypto", reason: "its signature does not match" };

interface Bench {
  readonly asked: Proof[];
  readonly logged: string[];
  readonly deps: AdmissionDeps;
  admit(operation: string, input: unknown): Promise<unknown>;
}

/** An admission whose verifier answers by the text of the proof. */
function benchOf(
  findings: Readonly<Record<string, Finding>> | null,
  rules: Partial<ActorRules> = {},
  coordination: AdmissionDeps["coordination"] = createLocalCoordination(),
): Bench {
  const asked: Proof[] = [];
  const logged: string[] = [];
  const log = (data: object): void => void logged.push(JSON.stringify(data));
  const verifier =
    findings === null
      ? null
      : {
          name: "jwks",
          async verify(proof: Proof): Promise<Finding> {
            asked.push(proof);
            return findings[proof.text] ?? FORGED;
          },
        };
  const deps: AdmissionDeps = {
    actors: { verifier, policy: "accept-cached", singleUseProofs: false, ...rules },
    coordination,
    time: { now: () => Promise.resolve(NOW_MS), observe: () => {} },
    log: { info: log, warn: log, error: log },
  };
  return { asked, logged, deps, admit: (operation, input) => admitActors(deps, operation, input) };
}

const refusal = (message: string) => ({
  code: "rejected_by_policy",
  message: expect.stringContaining(message) as string,
});

describe("where nothing is verified", () => {
  it("the input goes on as it is", async () => {
    const input = { actor: PROVEN };
    expect(await benchOf(null).admit("claim_item", input)).toBe(input);
  });

  it("the strictest policy refuses every change, proof or not, and no read", async () => {
    const { admit } = benchOf(null, { policy: "reject" });
    await expect(admit("claim_item", { actor: PROVEN })).rejects.toMatchObject(
      refusal("nothing on this server"),
    );
    await expect(admit("claim_item", { actor: ANN })).rejects.toMatchObject(refusal("without a proof"));
    await expect(admit("manage_items", { items: [{}] })).rejects.toMatchObject(refusal("without an actor"));
    await admit("query_items", { operation: "search" });
  });
});

describe("a proof", () => {
  it("is taken off the actor, and what it verified goes on", async () => {
    const { admit } = benchOf({ "a good proof": VERIFIED });
    const input = { actor: { ...PROVEN, parent: "boss" }, items: [{ title: "x" }] };
    const admitted = await admit("manage_items", input);
    expect(admitted).toEqual({
      actor: {
        id: "ann",
        kind: "subagent",
        parent: "boss",
        verification: {
          status: "verified",
          verifier: "jwks",
          proof: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, claims: { sub: "ann" } },
        },
      },
      items: [{ title: "x" }],
    });
    expect(JSON.stringify(admitted)).not.toContain("a good proof");
    expect(input.actor.proof).toBe("a good proof");
  });

  it("that names somebody else makes the actor that one, and the stated name is kept beside it", async () => {
    const { admit } = benchOf({ "a good proof": { ...VERIFIED, identity: "did:web:ann.example" } });
    expect(await admit("claim_item", { actor: PROVEN })).toMatchObject({
      actor: { id: "did:web:ann.example", statedId: "ann" },
    });
  });

  it("is verified once however often it comes in a call, and each other one as well", async () => {
    const bench = benchOf({ "a good proof": VERIFIED, "ben's": { ...VERIFIED, identity: "ben" } });
    const ben = { id: "ben", kind: "subagent", proof: "ben's" };
    const admitted = await bench.admit("advance_item", {
      actor: PROVEN,
      transitions: [{ actor: { ...PROVEN } }, { actor: ben }, { actor: { ...ben } }, {}],
    });
    expect(bench.asked.map((proof) => proof.text)).toEqual(["a good proof", "ben's"]);
    expect(admitted).toMatchObject({
      transitions: [
        { actor: { id: "ann", verification: { status: "verified" } } },
        { actor: { id: "ben", verification: { status: "verified" } } },
        { actor: { id: "ben", verification: { status: "verified" } } },
        {},
      ],
    });
  });

  it("of another name is another question, though the text is the same", async () => {
    const bench = benchOf({ "a good proof": VERIFIED });
    await bench.admit("advance_item", {
      transitions: [{ actor: PROVEN }, { actor: { ...PROVEN, id: "not ann" } }],
    });
    expect(bench.asked.map((proof) => proof.statedId)).toEqual(["ann", "not ann"]);
  });

  it.each(["accept-cached", "accept-self-reported", "reject"] as const)(
    "that is forged refuses the whole call under %s, wherever it is, and is not shown [B85]",
    async (policy) => {
      const bench = benchOf({ "a good proof": VERIFIED }, { policy });
      const forged = { id: "ann", kind: "subagent", proof: "a forged proof" };
      for (const input of [{ actor: forged }, { transitions: [{ actor: PROVEN }, { actor: forged }] }]) {
        const refused = await bench.admit("advance_item", input).then(
          () => null,
          (error: unknown) => error,
        );
        expect(refused).toMatchObject({
          ...refusal("its signature does not match"),
          details: { verification: "rejected", failureKind: "crypto" },
        });
        expect(JSON.stringify(refused)).not.toContain("a forged proof");
      }
      expect(bench.logged.join()).not.toContain("a forged proof");
      expect(bench.logged).toHaveLength(2);
    },
  );

  it("that cannot be checked is recorded as that where the policy lets it pass", async () => {
    const away: Finding = { status: "unavailable", reason: "no keys" };
    const lenient = benchOf({ "a good proof": away }, { policy: "accept-self-reported" });
    expect(await lenient.admit("claim_item", { actor: PROVEN })).toMatchObject({
      actor: { id: "ann", verification: { status: "unavailable", metadata: { failureKind: "network" } } },
    });
    await expect(
      benchOf({ "a good proof": away }).admit("claim_item", { actor: PROVEN }),
    ).rejects.toMatchObject({
      ...refusal("cannot be checked now"),
      retryAfterMs: expect.any(Number) as number,
    });
  });

  it("checked with keys past their time says so", async () => {
    const bench = benchOf({ "a good proof": { ...VERIFIED, staleForMs: 400_500 } });
    expect(await bench.admit("claim_item", { actor: PROVEN })).toMatchObject({
      actor: { verification: { metadata: { verifiedFromCache: "true", cacheAgeSeconds: "400" } } },
    });
  });
});

describe("where names have to be proven", () => {
  it("a change is refused if any part of it has no name, and a read is not", async () => {
    const { admit } = benchOf({ "a good proof": VERIFIED }, { policy: "reject" });
    for (const input of [{}, { transitions: [{}] }, { transitions: [{ actor: PROVEN }, {}] }]) {
      await expect(admit("advance_item", input)).rejects.toMatchObject(refusal("without an actor"));
    }
    await admit("advance_item", { transitions: [{ actor: PROVEN }] });
    await admit("advance_item", { actor: PROVEN, transitions: [{}] });
    await admit("get_next_item", {});
  });
});

describe("a proof that serves one call", () => {
  const SINGLE = { singleUseProofs: true };
  const findings = { "a good proof": VERIFIED };
  const call = (more: object = {}) => ({ actor: PROVEN, requestId: randomUUID(), claims: [{}], ...more });

  /** Two replicas of one memory, which reaches back to before the proof was made. */
  async function replicas(): Promise<[Bench, Bench]> {
    const coordination = createLocalCoordination();
    const early = benchOf(findings, SINGLE, coordination);
    await rememberFromNow({
      ...early.deps,
      time: { now: () => Promise.resolve(NOW_MS - 60_000), observe: () => {} },
    });
    return [early, benchOf(findings, SINGLE, coordination)];
  }

  it("is refused for another one, at whichever replica", async () => {
    const [one, two] = await replicas();
    await one.admit("claim_item", call());
    for (const { admit } of [one, two]) {
      await expect(admit("claim_item", call())).rejects.toMatchObject(refusal("used for another call"));
    }
  });

  it("may come again with the very same call, from whichever replica it is retried", async () => {
    const [one, two] = await replicas();
    const first = call();
    await one.admit("claim_item", first);
    await two.admit("claim_item", first);
    await expect(two.admit("claim_item", { ...first, claims: [] })).rejects.toMatchObject(
      refusal("used for another call"),
    );
    await expect(two.admit("advance_item", first)).rejects.toMatchObject(refusal("used for another call"));
  });

  it("serves all elements of its call", async () => {
    const [one] = await replicas();
    await one.admit("advance_item", { transitions: [{ actor: PROVEN }, { actor: { ...PROVEN } }] });
  });

  it("needs an id and the time it was made", async () => {
    for (const missing of [{ tokenId: null }, { issuedAtMs: null }]) {
      const bench = benchOf({ "a good proof": { ...VERIFIED, ...missing } }, SINGLE);
      await expect(bench.admit("claim_item", call())).rejects.toMatchObject(refusal("jti and iat"));
    }
  });

  it("that was made before the memory of used ones began cannot be told from a used one", async () => {
    const bench = benchOf(findings, SINGLE);
    await rememberFromNow(bench.deps);
    await expect(bench.admit("claim_item", call())).rejects.toMatchObject({
      ...refusal("whether it was used before"),
      retryAfterMs: expect.any(Number) as number,
    });
  });
});
