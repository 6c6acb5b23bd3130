import { describe, expect, it } from "vitest";
import { TRIGGERS } from "../../../services/core/roles.ts";
import { apply, decide, NOW, refusalOf, rolesOf, worldOf } from "./advance-world.ts";

const POLICIES = {
  reviewed: { hasReviewPhase: true },
  fragile: { maxAttempts: 2 },
  stubborn: { maxAttempts: 2, hasReviewPhase: true },
  holds: { onExpiry: "hold" },
} as const;

const LAPSED = { agent: "ann", expiresAt: NOW - 60_000, ttlMs: 60_000 } as const;

describe("who may advance a held item", () => {
  const held = () => worldOf({ a: { role: "work", claim: { agent: "ann" } } });

  it("its holder, by session or by agent and fence [B48]", () => {
    expect(refusalOf(held(), "a", "complete", { agent: "ann" })).toBeNull();
    expect(refusalOf(held(), "a", "complete", { agent: "ann", session: "elsewhere", fence: 1 })).toBeNull();
  });

  it("nobody else, and nobody without a name [B48]", () => {
    expect(refusalOf(held(), "a", "complete", { agent: "bob" })).toBe("not_claim_holder");
    expect(refusalOf(held(), "a", "complete")).toBe("not_claim_holder");
    expect(refusalOf(held(), "a", "complete", { agent: "ann", session: "elsewhere" })).toBe(
      "not_claim_holder",
    );
  });

  it("not with a fence that does not match, even its holder", () => {
    expect(refusalOf(held(), "a", "complete", { agent: "ann", fence: 7 })).toBe("claim_lost");
    expect(refusalOf(worldOf({ a: {} }), "a", "start", { agent: "ann", fence: 1 })).toBe("claim_lost");
  });

  it("not the session whose own attempt expired or was revoked, until it claims again [B52]", () => {
    for (const latestEnd of ["expired", "revoked"] as const) {
      expect(refusalOf(worldOf({ a: {} }), "a", "start", { agent: "ann", context: { latestEnd } })).toBe(
        "claim_lost",
      );
    }
    for (const latestEnd of ["released", "failed", "completed", null] as const) {
      expect(
        refusalOf(worldOf({ a: {} }), "a", "start", { agent: "ann", context: { latestEnd } }),
      ).toBeNull();
    }
  });

  it("the same name from any session where the configuration says that the name is the holder", () => {
    expect(
      refusalOf(held(), "a", "complete", {
        agent: "ann",
        session: "elsewhere",
        context: { identity: "actor" },
      }),
    ).toBeNull();
  });
});

describe("an item whose claim has lapsed", () => {
  it("is freed first and moved then, and both are recorded", () => {
    const world = worldOf({ a: { role: "work", claim: LAPSED } });
    const applied = apply(world, "a", "complete", { agent: "bob" });
    expect(applied.previousRole).toBe("queue");
    expect(world.transitions.map((row) => [row.trigger, row.fromRole, row.toRole])).toEqual([
      ["expire", "work", "queue"],
      ["complete", "queue", "terminal"],
    ]);
    expect(world.ended).toEqual([{ itemId: "a", fence: 1, reason: "expired", detail: null, failure: null }]);
  });

  it("may still be finished by its holder", () => {
    const world = worldOf({ a: { role: "work", claim: LAPSED } });
    apply(world, "a", "complete", { agent: "ann" });
    expect(world.ended).toMatchObject([{ reason: "completed" }]);
  });

  it("is not freed at its expiry before the clock has spoken, and says that it is worth asking", () => {
    const world = worldOf({ a: { role: "work", claim: { ...LAPSED, expiresAt: NOW } } });
    expect(decide(world, "a", "complete", { agent: "bob" })).toMatchObject({
      refusal: { code: "not_claim_holder", expired: true, fence: 1, ttlMs: 60_000 },
    });
    expect(refusalOf(world, "a", "complete", { agent: "bob", context: { seenDead: true } })).toBeNull();
  });

  it("keeps everything as it was when what is asked is refused", () => {
    const world = worldOf({ a: { role: "work", claim: LAPSED } });
    expect(refusalOf(world, "a", "reopen", { agent: "bob" })).toBe("invalid_transition");
    expect(world.changed()).toEqual([]);
    expect(world.ended).toEqual([]);
  });

  it("is refused when freeing it would kill it", () => {
    for (const [type, role] of [
      ["fragile", "work"],
      ["stubborn", "review"],
    ] as const) {
      const world = worldOf({ a: { type, role, attempts: 1, claim: LAPSED } }, [], POLICIES);
      expect(refusalOf(world, "a", "complete", { agent: "bob" }), `role ${role}`).toBe("item_dead");
    }
  });

  it("can be cancelled although freeing it kills it", () => {
    const world = worldOf(
      { a: { type: "stubborn", role: "review", attempts: 1, claim: LAPSED } },
      [],
      POLICIES,
    );
    apply(world, "a", "cancel", { agent: "bob" });
    expect(world.get("a")).toMatchObject({ role: "terminal", outcome: "cancelled", dead: false });
  });

  it("stays in work, and is finished from there, where an expiry holds", () => {
    const world = worldOf({ a: { type: "holds", role: "work", claim: LAPSED } }, [], POLICIES);
    expect(apply(world, "a", "start", { agent: "bob" })).toMatchObject({
      previousRole: "work",
      state: { role: "terminal" },
    });
  });

  it("closes by itself when its closing was withheld, so that nobody can complete it any more", () => {
    const world = worldOf({ a: { role: "work", closeWithheld: true, claim: LAPSED } });
    expect(refusalOf(world, "a", "complete", { agent: "bob" })).toBe("invalid_transition");
    expect(world.changed()).toEqual([]);
  });
});

describe("what stands against a move", () => {
  const blocked = (role: "queue" | "work" | "review") =>
    worldOf({ first: {}, a: { role } }, [{ from: "first", to: "a" }]);

  it("an unsatisfied blocker, for every move forward [B16]", () => {
    expect(refusalOf(blocked("queue"), "a", "start")).toBe("dependency_blocked");
    expect(refusalOf(blocked("queue"), "a", "complete")).toBe("dependency_blocked");
    expect(refusalOf(blocked("work"), "a", "start")).toBe("dependency_blocked");
    expect(refusalOf(blocked("review"), "a", "start")).toBe("dependency_blocked");
  });

  it("but never for a cancel, a block or a move back [B9]", () => {
    for (const trigger of ["cancel", "block", "hold", "requeue", "fail"] as const) {
      expect(refusalOf(blocked("work"), "a", trigger), `trigger ${trigger}`).toBeNull();
    }
    expect(refusalOf(blocked("review"), "a", "rework")).toBeNull();
  });

  it("an unsatisfied blocker for a resume into work or review, not for one into queue", () => {
    const paused = (previousRole: "queue" | "work" | "review") =>
      worldOf({ first: {}, a: { role: "blocked", previousRole } }, [{ from: "first", to: "a" }]);
    expect(refusalOf(paused("work"), "a", "resume")).toBe("dependency_blocked");
    expect(refusalOf(paused("review"), "a", "resume")).toBe("dependency_blocked");
    expect(refusalOf(paused("queue"), "a", "resume")).toBeNull();
  });

  it("open children, for everything that would close it", () => {
    for (const trigger of ["complete", "start", "cancel"] as const) {
      const world = worldOf({ a: { role: "work" }, child: { under: "a" } });
      expect(decide(world, "a", trigger), `trigger ${trigger}`).toMatchObject({
        refusal: { code: "open_children", openChildren: 1 },
      });
    }
  });

  it("a refusal changes nothing, whatever was asked", () => {
    const world = worldOf({ a: { role: "work", claim: { agent: "ann" } }, child: { under: "a" } });
    for (const trigger of TRIGGERS) {
      if (decide(world.fork(), "a", trigger, { agent: "bob" }).kind === "refused")
        decide(world, "a", trigger, { agent: "bob" });
    }
    expect(world.changed()).toEqual([]);
    expect(world.events).toEqual([]);
  });
});

describe("what a move does to the claim", () => {
  const held = (role: "work" | "review", type: string | null = null) =>
    worldOf({ a: { role, type, claim: { agent: "ann" } } }, [], POLICIES);

  it.each([
    ["complete", "work", "completed"],
    ["cancel", "work", "released"],
    ["requeue", "work", "released"],
    ["rework", "review", "released"],
    ["fail", "work", "failed"],
    ["fail", "review", "failed"],
  ] as const)("%s from %s ends it as %s, and the fence rises [B50]", (trigger, role, reason) => {
    const world = held(role);
    expect(apply(world, "a", trigger, { agent: "ann" }).claimEnded).toBe(true);
    expect(world.get("a")).toMatchObject({ claim: null, fence: 2 });
    expect(world.ended).toMatchObject([{ fence: 1, reason }]);
  });

  it.each(["block", "hold"] as const)("%s keeps it", (trigger) => {
    const world = held("work");
    expect(apply(world, "a", trigger, { agent: "ann" }).claimEnded).toBe(false);
    expect(world.get("a")).toMatchObject({ claim: { agent: "ann" }, fence: 1 });
  });

  it("entering review keeps the worker's claim and starts a new count", () => {
    const world = worldOf(
      { a: { role: "work", type: "reviewed", attempts: 3, claim: { agent: "ann" } } },
      [],
      POLICIES,
    );
    apply(world, "a", "start", { agent: "ann" });
    expect(world.get("a")).toMatchObject({ role: "review", attempts: 0, claim: { agent: "ann" }, fence: 1 });
  });

  it("coming back to review from a block is no new phase", () => {
    const world = worldOf({ a: { role: "review", attempts: 3 } });
    apply(world, "a", "hold");
    apply(world, "a", "resume");
    expect(world.get("a")).toMatchObject({ role: "review", attempts: 3 });
  });

  it("block from review and resume leads back to review, with nothing left of the block [B6]", () => {
    const world = worldOf({ a: { role: "review", type: "reviewed" } }, [], POLICIES);
    apply(world, "a", "block");
    expect(world.get("a")).toMatchObject({ role: "blocked", previousRole: "review", statusLabel: "blocked" });
    apply(world, "a", "resume");
    expect(world.get("a")).toMatchObject({ role: "review", previousRole: null, statusLabel: null });
  });
});

describe("a start", () => {
  it("runs through the phases of an item with a review [B2]", () => {
    const world = worldOf({ a: { type: "reviewed" } }, [], POLICIES);
    const seen = ["start", "start", "start"].map(() => {
      apply(world, "a", "start");
      return rolesOf(world, "a");
    });
    expect(seen).toEqual(["a:work", "a:review", "a:terminal"]);
  });

  it("wears done when it lands in terminal, in progress before [B1]", () => {
    const world = worldOf({ a: {} });
    apply(world, "a", "start");
    expect(world.get("a").statusLabel).toBe("in-progress");
    apply(world, "a", "start");
    expect(world.get("a")).toMatchObject({ role: "terminal", outcome: "done", statusLabel: "done" });
  });
});
