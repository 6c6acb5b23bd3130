/**
 * One item under random claims, beats, releases, lapses and transitions of three agents.
 * Whatever happens in whatever order: fences only rise, there is one holder at most, and
 * every tenure that began either ended once or is the one that is held.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideAdvance } from "../../../services/core/advance.ts";
import { isHolder, judgeClaim } from "../../../services/core/claim.ts";
import { TRIGGERS, type Trigger } from "../../../services/core/roles.ts";
import type { ItemState } from "../../../services/core/state.ts";
import { endTenure, grant, renew } from "../../../services/core/tenure.ts";
import { NOBODY } from "../../../services/core/world.ts";
import { claimOf, item, NOW, worldOf } from "./world-of.ts";

const TTL = 60_000;

type Step =
  | { readonly do: "wait"; readonly ms: number }
  | {
      readonly do: "claim" | "beat" | "release";
      readonly who: number;
      readonly session: number;
      readonly withFence: boolean;
    }
  | { readonly do: "sweep" }
  | {
      readonly do: "advance";
      readonly who: number;
      readonly session: number;
      readonly trigger: Trigger;
      readonly withFence: boolean;
    };

const who = { who: fc.nat(2), session: fc.nat(1), withFence: fc.boolean() };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, TTL / 2, TTL, TTL * 1.5) }),
  fc.record({ do: fc.constantFrom("claim" as const, "beat" as const, "release" as const), ...who }),
  fc.record({ do: fc.constant("sweep" as const) }),
  fc.record({ do: fc.constant("advance" as const), ...who, trigger: fc.constantFrom(...TRIGGERS) }),
);

interface Life {
  state: ItemState;
  now: number;
  /** Fences of tenures that began, and of those that ended. */
  readonly opened: number[];
  readonly ended: number[];
}

function live(life: Life, one: Step): void {
  if (one.do === "wait") {
    life.now += one.ms;
    return;
  }
  const world = worldOf({ states: [life.state], now: life.now });
  const { claim, fence, id } = life.state;
  if (one.do === "sweep") {
    if (claim !== null && claim.expiresAt + TTL / 2 <= life.now) {
      endTenure(world, id, { reason: "expired", requeue: true, detail: null, by: NOBODY });
    }
  } else {
    const caller = {
      agent: `agent-${one.who}`,
      session: `session-${one.session}`,
      fence: one.withFence ? fence : null,
    };
    if (one.do === "claim") {
      const verdict = judgeClaim(life.state, caller, life.now, false);
      if (verdict.kind === "refresh") renew(world, id, life.now + TTL, TTL);
      if (verdict.kind === "grant" && verdict.displaces) {
        endTenure(world, id, { reason: "expired", requeue: true, detail: null, by: NOBODY });
      }
      if (verdict.kind === "take_over") {
        endTenure(world, id, { reason: "released", requeue: false, detail: null, by: NOBODY });
      }
      const free = world.get(id).claim === null && !world.get(id).dead;
      if ((verdict.kind === "grant" || verdict.kind === "take_over") && free) {
        grant(world, id, { ...caller, parentAgent: null, ttlMs: TTL });
      }
    } else if (claim !== null && isHolder(claim, caller) && one.do !== "advance") {
      if (one.do === "beat") renew(world, id, life.now + TTL, TTL);
      else endTenure(world, id, { reason: "released", requeue: false, detail: null, by: NOBODY });
    } else if (one.do === "advance") {
      decideAdvance(
        world,
        {
          itemId: id,
          trigger: one.trigger,
          summary: null,
          label: null,
          writer: caller,
          by: NOBODY,
          failure: { class: "item", reason: "it broke" },
          operator: false,
          random: 0,
        },
        { now: life.now, seenDead: false, latestEnd: null, identity: "session" },
      );
    }
  }
  life.state = world.get(id);
  life.opened.push(...world.opened.map((attempt) => attempt.fence));
  life.ended.push(...world.ended.map((attempt) => attempt.fence));
}

describe("the life of an item", () => {
  it("has fences that only rise, one holder at most, and every tenure ends once", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const life: Life = { state: item("i"), now: NOW, opened: [], ended: [] };
        for (const one of steps) {
          const before = life.state;
          live(life, one);
          const after = life.state;
          expect(after.fence).toBeGreaterThanOrEqual(before.fence);
          const sameHolder =
            before.claim?.agent === after.claim?.agent && before.claim?.session === after.claim?.session;
          if (!sameHolder) expect(after.fence).toBeGreaterThan(before.fence);
          if (after.claim !== null) expect(after.role).not.toBe("terminal");
          const open = life.opened.filter((fence) => !life.ended.includes(fence));
          expect(open).toEqual(after.claim === null ? [] : [after.fence]);
          expect(new Set(life.ended).size).toBe(life.ended.length);
          expect(life.opened).toEqual(life.opened.toSorted((a, b) => a - b));
          if (after.dead) expect(after.role).toBe("blocked");
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("ending a tenure", () => {
  const held = item("i", { claim: claimOf(), fence: 3, role: "work" });
  const end = (
    state: ItemState,
    reason: "released" | "expired" | "revoked",
    requeue: boolean,
    policy = {},
  ) => {
    const world = worldOf({ states: [state], policy });
    const report = endTenure(world, "i", { reason, requeue, detail: null, by: NOBODY });
    return { report, world, after: world.get("i") };
  };

  it("by expiry puts work back into the queue, counts the attempt and raises the fence [B52]", () => {
    const { report, world, after } = end(held, "expired", true);
    expect(report).toMatchObject({ requeued: true, dead: false });
    expect(after).toMatchObject({ role: "queue", attempts: 1, claim: null, fence: 4, availableAt: null });
    expect(world.ended).toEqual([{ itemId: "i", fence: 3, reason: "expired", detail: null, failure: null }]);
  });

  it("by expiry keeps work in work where its schema says hold", () => {
    expect(end(held, "expired", true, { onExpiry: "hold" }).after).toMatchObject({
      role: "work",
      attempts: 1,
      claim: null,
    });
  });

  it("by the last allowed expiry makes the item dead: blocked, labelled, out of every queue [B53]", () => {
    const { report, world, after } = end({ ...held, attempts: 4 }, "expired", true);
    expect(report).toMatchObject({ requeued: false, dead: true });
    expect(after).toMatchObject({
      role: "blocked",
      dead: true,
      statusLabel: "dead",
      previousRole: "queue",
      attempts: 5,
    });
    expect(world.events.map((event) => event.type)).toContain("item.dead");
  });

  it("by release leaves the role unless it is asked to requeue, and counts nothing", () => {
    expect(end(held, "released", false).after).toMatchObject({
      role: "work",
      attempts: 0,
      claim: null,
      fence: 4,
    });
    expect(end(held, "released", true).after).toMatchObject({ role: "queue", attempts: 0 });
  });

  it.each(["queue", "review", "blocked"] as const)(
    "in %s only clears the claim when it is released",
    (role) => {
      expect(end({ ...held, role }, "released", true).after).toMatchObject({
        role,
        claim: null,
        attempts: 0,
      });
    },
  );

  it("of a container only clears the claim, and counts no attempt", () => {
    const { after } = end({ ...held, openChildren: 1 }, "expired", true);
    expect(after).toMatchObject({ role: "work", claim: null, attempts: 0 });
  });

  it("of a container whose last child closed meanwhile closes it", () => {
    const { after } = end({ ...held, closeWithheld: true, doneChildren: 1 }, "expired", true);
    expect(after).toMatchObject({ role: "terminal", outcome: "done", claim: null });
  });
});
