/** What leases do, decision by decision. */
import { describe, expect, it } from "vitest";
import { decideAdvance, type AdvanceVerdict } from "../../../services/core/advance.ts";
import { forceRelease } from "../../../services/core/leases/hold-leases.ts";
import type { Declared } from "../../../services/core/leases/lease-book.ts";
import type { Trigger } from "../../../services/core/roles.ts";
import type { ItemState } from "../../../services/core/state.ts";
import { endTenure } from "../../../services/core/tenure.ts";
import { NOBODY } from "../../../services/core/world.ts";
import { Ledger, needs } from "./lease-ledger.ts";
import { claimOf, item, NOW } from "./world-of.ts";

const HOUR = 3_600_000;

function ledgerOf(
  declared: Readonly<Record<string, Declared>>,
  states: Readonly<Record<string, Partial<ItemState>>> = {},
): Ledger {
  return new Ledger(
    Object.keys(declared).map((id) => item(id, states[id])),
    declared,
  );
}

/** The item's claim, if it has one, is the caller's. */
function move(ledger: Ledger, id: string, trigger: Trigger, now = NOW): AdvanceVerdict {
  const state = ledger.states.get(id);
  const writer = {
    agent: state?.claim?.agent ?? null,
    session: state?.claim?.session ?? null,
    fence: null,
  };
  return ledger.decide(now, (world) =>
    decideAdvance(
      world,
      {
        itemId: id,
        trigger,
        summary: null,
        label: null,
        writer,
        by: { ...NOBODY, agent: writer.agent, session: writer.session },
        failure: { class: "item", reason: null },
        operator: false,
        random: 0,
      },
      { now, seenDead: false, latestEnd: null, identity: "session" },
    ),
  );
}

function refusalOf(verdict: AdvanceVerdict) {
  if (verdict.kind !== "refused" || verdict.refusal.code !== "resource_unavailable")
    throw new Error(`not refused for its resources: ${JSON.stringify(verdict)}`);
  const { contended, position } = verdict.refusal;
  return { keys: contended.keys, retryAfterMs: contended.retryAfterMs, position };
}

const held = (agent: string, ttlMs = 60_000): Partial<ItemState> => ({
  claim: claimOf({ agent, session: `${agent}-1`, ttlMs }),
  fence: 1,
});

describe("an exclusive resource", () => {
  it("is had by one item at a time: the second start is told the key and when to come back [B60]", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") });
    expect(move(ledger, "a", "start").kind).toBe("applied");
    expect(refusalOf(move(ledger, "b", "start", NOW + 1_000))).toEqual({
      keys: ["db"],
      retryAfterMs: HOUR - 1_000,
      position: null,
    });
    expect(ledger.states.get("b")?.role).toBe("queue");
  });

  it("of a held item comes free when the claim does, however long its own time [B60]", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") }, { a: held("ann", 60_000) });
    move(ledger, "a", "start");
    expect(refusalOf(move(ledger, "b", "start", NOW + 20_000)).retryAfterMs).toBe(40_000);
  });

  it.each(["complete", "block", "cancel", "requeue", "fail", "start"] as const)(
    "is let go of by %s [B60]",
    (trigger) => {
      const ledger = ledgerOf({ a: needs("db"), b: needs("db") }, { a: held("ann") });
      move(ledger, "a", "start");
      expect(move(ledger, "a", trigger, NOW + 5).kind).toBe("applied");
      expect(ledger.holdersOf("db")).toEqual([]);
      expect(ledger.history.map(({ end }) => end)).toEqual([
        { reason: "released", at: NOW + 5, by: "ann", detail: null },
      ]);
      expect(move(ledger, "b", "start", NOW + 6).kind).toBe("applied");
    },
  );

  it("is not taken when another that is needed too is taken: all or nothing [B61]", () => {
    const ledger = ledgerOf({ a: needs("two"), b: needs("one", "two"), c: needs("one") });
    move(ledger, "a", "start");
    expect(refusalOf(move(ledger, "b", "start")).keys).toEqual(["two"]);
    expect(ledger.holdersOf("one")).toEqual([]);
    expect(move(ledger, "c", "start").kind).toBe("applied");
  });

  it("is a new hold after a block and a resume, and the first one is closed [B62]", () => {
    const ledger = ledgerOf({ a: needs("db") });
    move(ledger, "a", "start");
    move(ledger, "a", "block", NOW + 10);
    move(ledger, "a", "resume", NOW + 20);
    expect(ledger.history.map(({ lease, end }) => [lease.acquiredAt, end?.at])).toEqual([
      [NOW, NOW + 10],
      [NOW + 20, undefined],
    ]);
  });

  it("is not left behind by a start that is refused for something else [B63]", () => {
    const ledger = ledgerOf({ a: needs("db") }, { a: { blockers: 1 } });
    expect(move(ledger, "a", "start")).toMatchObject({
      kind: "refused",
      refusal: { code: "dependency_blocked" },
    });
    expect(ledger.leases).toEqual([]);
    expect(ledger.history).toEqual([]);
  });

  it("is stolen at its expiry, and the old hold ends there and not when it was stolen [B65]", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") });
    move(ledger, "a", "start");
    expect(move(ledger, "b", "start", NOW + HOUR - 1).kind).toBe("refused");
    expect(move(ledger, "b", "start", NOW + HOUR + 500).kind).toBe("applied");
    expect(ledger.history.map(({ end }) => end?.reason ?? null)).toEqual(["expired", null]);
    expect(ledger.history[0]?.end?.at).toBe(NOW + HOUR);
  });

  it("that was stolen stays the thief's when the old item leaves work late [B65]", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") });
    move(ledger, "a", "start");
    move(ledger, "b", "start", NOW + HOUR);
    const before = structuredClone(ledger.history);
    move(ledger, "a", "complete", NOW + HOUR + 9);
    expect(ledger.history).toEqual(before);
    expect(ledger.holdersOf("db")).toEqual(["b"]);
  });

  it("that was over and nobody wanted ends at its expiry too [B65]", () => {
    const ledger = ledgerOf({ a: needs("db") });
    move(ledger, "a", "start");
    move(ledger, "a", "complete", NOW + 2 * HOUR);
    expect(ledger.history[0]?.end).toMatchObject({ reason: "expired", at: NOW + HOUR });
  });

  it("begins no earlier than the hold before it ended, though its transaction did", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") });
    move(ledger, "a", "start");
    move(ledger, "a", "complete", NOW + 100);
    move(ledger, "b", "start", NOW + 90);
    expect(ledger.history[1]?.lease.acquiredAt).toBe(NOW + 100);
  });

  it("of a held item does not end while the claim is renewed, however late it is [B68]", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") }, { a: held("ann") });
    move(ledger, "a", "start");
    const renewed = ledger.states.get("a");
    if (!renewed?.claim) throw new Error("the claim is gone");
    ledger.states.set("a", { ...renewed, claim: { ...renewed.claim, expiresAt: NOW + 3 * HOUR } });
    expect(refusalOf(move(ledger, "b", "start", NOW + 2 * HOUR)).keys).toEqual(["db"]);
    move(ledger, "a", "complete", NOW + 2 * HOUR + 1);
    expect(ledger.history[0]?.end).toMatchObject({ reason: "released", at: NOW + 2 * HOUR + 1 });
  });
});

describe("a claim that ends", () => {
  it("by expiry ends the leases at the instant at which it expired [B65]", () => {
    const ledger = ledgerOf({ a: needs("db") }, { a: held("ann") });
    move(ledger, "a", "start");
    ledger.decide(NOW + 200_000, (world) =>
      endTenure(world, "a", { reason: "expired", requeue: true, detail: null, by: NOBODY }),
    );
    expect(ledger.states.get("a")).toMatchObject({ role: "queue", leased: [] });
    expect(ledger.history[0]?.end).toMatchObject({ reason: "expired", at: NOW + 60_000 });
  });

  it("by a release that leaves the item in work leaves it the lease, for the lease's own time from then on", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") }, { a: held("ann") });
    move(ledger, "a", "start");
    ledger.decide(NOW + 30_000, (world) =>
      endTenure(world, "a", { reason: "released", requeue: false, detail: null, by: NOBODY }),
    );
    expect(ledger.states.get("a")?.role).toBe("work");
    expect(refusalOf(move(ledger, "b", "start", NOW + 30_000)).retryAfterMs).toBe(HOUR);
    expect(move(ledger, "b", "start", NOW + 30_000 + HOUR).kind).toBe("applied");
  });
});

describe("a shared resource", () => {
  it("is had by as many as its capacity says, and by nobody beside an exclusive holder", () => {
    const pool = needs("gpu:shared:2");
    const ledger = ledgerOf({ a: pool, b: pool, c: pool, d: needs("gpu") });
    expect(move(ledger, "a", "start").kind).toBe("applied");
    expect(move(ledger, "b", "start").kind).toBe("applied");
    expect(refusalOf(move(ledger, "c", "start")).keys).toEqual(["gpu"]);
    expect(refusalOf(move(ledger, "d", "start")).keys).toEqual(["gpu"]);
    move(ledger, "a", "complete");
    expect(refusalOf(move(ledger, "d", "start")).keys).toEqual(["gpu"]);
    move(ledger, "b", "complete");
    expect(move(ledger, "d", "start").kind).toBe("applied");
    expect(refusalOf(move(ledger, "c", "start")).keys).toEqual(["gpu"]);
  });
});

describe("waiting for a resource", () => {
  const three = { a: needs("db"), b: needs("db"), c: needs("db") };

  it("gives each holder its place in the line, which is told and kept", () => {
    const ledger = ledgerOf(three, { b: held("bob"), c: held("cat") });
    move(ledger, "a", "start");
    expect(refusalOf(move(ledger, "b", "start")).position).toBe(1);
    expect(refusalOf(move(ledger, "c", "start")).position).toBe(2);
    expect(refusalOf(move(ledger, "b", "start")).position).toBe(1);
  });

  it("is not overtaken when the resource comes free", () => {
    const ledger = ledgerOf(three, { b: held("bob"), c: held("cat") });
    move(ledger, "a", "start");
    move(ledger, "b", "start");
    move(ledger, "a", "complete");
    expect(refusalOf(move(ledger, "c", "start")).position).toBe(2);
    expect(move(ledger, "b", "start").kind).toBe("applied");
    expect(refusalOf(move(ledger, "c", "start")).position).toBe(1);
  });

  it("is not overtaken by somebody who shares but one of the keys", () => {
    const ledger = ledgerOf({ a: needs("one"), b: needs("one", "two"), c: needs("two") }, { b: held("bob") });
    move(ledger, "a", "start");
    move(ledger, "b", "start");
    expect(refusalOf(move(ledger, "c", "start")).keys).toEqual(["two"]);
    expect(ledger.holdersOf("two")).toEqual([]);
  });

  it("gives no place to an item that nobody holds", () => {
    const ledger = ledgerOf(three);
    move(ledger, "a", "start");
    expect(refusalOf(move(ledger, "b", "start")).position).toBeNull();
    move(ledger, "a", "complete");
    expect(move(ledger, "c", "start").kind).toBe("applied");
  });

  it.each(["block", "cancel"] as const)("is over when its item moves on by %s", (trigger) => {
    const ledger = ledgerOf(three, { b: held("bob"), c: held("cat") });
    move(ledger, "a", "start");
    move(ledger, "b", "start");
    move(ledger, "b", trigger);
    move(ledger, "a", "complete");
    expect(move(ledger, "c", "start").kind).toBe("applied");
  });

  it("is over when its claim ends", () => {
    const ledger = ledgerOf(three, { b: held("bob"), c: held("cat") });
    move(ledger, "a", "start");
    move(ledger, "b", "start");
    move(ledger, "a", "complete");
    ledger.decide(NOW, (world) =>
      endTenure(world, "b", { reason: "released", requeue: false, detail: null, by: NOBODY }),
    );
    expect(move(ledger, "c", "start").kind).toBe("applied");
  });

  it("names the claims that may have lapsed, for the clock to say, and nobody else", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") }, { a: held("ann") });
    move(ledger, "a", "start");
    const expiredOf = (now: number): unknown => {
      const verdict = move(ledger, "b", "start", now);
      if (verdict.kind !== "refused" || verdict.refusal.code !== "resource_unavailable") return verdict;
      return verdict.refusal.contended.expired;
    };
    expect(expiredOf(NOW + 59_999)).toEqual([]);
    expect(expiredOf(NOW + 60_000)).toEqual([
      { itemId: "a", fence: 1, ttlMs: 60_000, expiresAt: NOW + 60_000 },
    ]);
  });
});

describe("a start cascade", () => {
  const family = {
    p: { openChildren: 1 },
    c: { ancestors: ["p"] },
  };

  it("takes the parent's keys with the child's [B67]", () => {
    const ledger = ledgerOf({ p: needs("site"), c: needs("db") }, family);
    move(ledger, "c", "start");
    expect([ledger.holdersOf("site"), ledger.holdersOf("db")]).toEqual([["p"], ["c"]]);
  });

  it("lets the child go on when the parent's are taken, and says so [B67]", () => {
    const ledger = ledgerOf({ p: needs("site"), c: needs("db"), x: needs("site") }, family);
    move(ledger, "x", "start");
    const verdict = move(ledger, "c", "start");
    expect(verdict).toMatchObject({
      kind: "applied",
      cascades: [
        {
          itemId: "p",
          previousRole: "queue",
          targetRole: "work",
          applied: false,
          resourceBlocked: true,
          contendedResources: ["site"],
        },
      ],
    });
    expect([ledger.states.get("p")?.role, ledger.states.get("c")?.role]).toEqual(["queue", "work"]);
  });

  it("opens a closed parent to the queue when what its work takes is taken", () => {
    const ledger = ledgerOf({ p: needs("site"), c: needs(), x: needs("site") }, family);
    move(ledger, "c", "complete");
    expect(ledger.states.get("p")?.role).toBe("terminal");
    move(ledger, "x", "start");
    move(ledger, "c", "reopen");
    expect([ledger.states.get("p")?.role, ledger.states.get("c")?.role]).toEqual(["queue", "queue"]);
  });
});

describe("a forced release", () => {
  it("is written down with who and why, keeps the item in work, and is remembered for its holder [B66][B68]", () => {
    const ledger = ledgerOf({ a: needs("db"), b: needs("db") }, { a: held("ann") });
    move(ledger, "a", "start");
    const by = { agent: "olga", reason: "the database has to be restored" };
    expect(ledger.decide(NOW + 7, (world) => forceRelease(world, "a", "db", by))).toBe(true);
    expect(ledger.decide(NOW + 8, (world) => forceRelease(world, "a", "db", by))).toBe(false);
    expect(ledger.states.get("a")).toMatchObject({ role: "work", leased: [], lostLeases: ["db"] });
    expect(ledger.history[0]?.end).toEqual({
      reason: "force_released",
      at: NOW + 7,
      by: "olga",
      detail: by.reason,
    });
    expect(move(ledger, "b", "start").kind).toBe("applied");
    move(ledger, "a", "complete");
    expect(ledger.states.get("a")?.lostLeases).toEqual([]);
    expect(ledger.holdersOf("db")).toEqual(["b"]);
  });
});

describe("what a move has used", () => {
  it("is what entering work takes, then what the caller names, each once [B64]", () => {
    const keys = ["db", "gpu", "docs", "ci-token"];
    const ledger = ledgerOf({ a: { ...needs("db", "gpu:shared:3"), keys } });
    const world = ledger.world(NOW);
    const request = {
      itemId: "a",
      summary: null,
      label: null,
      writer: { agent: null, session: null, fence: null },
      by: NOBODY,
      failure: { class: "item", reason: null } as const,
      operator: false,
      random: 0,
    };
    const context = { now: NOW, seenDead: false, latestEnd: null, identity: "session" } as const;
    decideAdvance(world, { ...request, trigger: "start", credentials: ["ci-token", "db"] }, context);
    decideAdvance(world, { ...request, trigger: "complete", credentials: ["ci-token"] }, context);
    expect(world.transitions.map(({ consumed }) => consumed)).toEqual([
      ["db", "gpu", "docs", "ci-token"],
      ["ci-token"],
    ]);
  });
});
