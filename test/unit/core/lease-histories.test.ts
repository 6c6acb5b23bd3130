/**
 * Random histories of many items over a few keys. After every step: one exclusive holder of
 * a key at an instant, in the leases and in the history; nobody overtaken; nothing left
 * behind. Take `judgeLeases`, the tickets or `freeSince` out of it and it fails within a few runs.
 */
import { type Arbitrary, array, assert, constantFrom, integer, oneof, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { type AdvanceVerdict, decideAdvance } from "../../../services/core/advance.ts";
import { forceRelease, judgeLeases } from "../../../services/core/leases/hold-leases.ts";
import type { Trigger } from "../../../services/core/roles.ts";
import { endTenure, grant } from "../../../services/core/tenure.ts";
import { NOBODY, type World } from "../../../services/core/world.ts";
import { Ledger, needs } from "./lease-ledger.ts";
import { item, NOW } from "./world-of.ts";

const DECLARED = {
  parent: needs("site"),
  a: needs("db"),
  b: needs("db", "gpu:shared:2"),
  c: needs("gpu:shared:2", "site"),
  d: needs("gpu"),
  e: needs("site", "db"),
  f: needs("gpu:shared:2"),
  g: needs(),
};
const IDS = Object.keys(DECLARED);
const KEYS = ["db", "gpu", "site"];
const CHILDREN = new Set(["a", "c"]);

const step = record({
  id: constantFrom(...IDS),
  what: constantFrom(
    ...(["start", "start", "start", "complete", "block", "resume", "requeue", "fail", "reopen"] as const),
    ...(["claim", "claim", "release", "lapse", "force"] as const),
  ),
  key: constantFrom(...KEYS),
  /** How much time passes, in milliseconds; a transaction may have begun before the last one ended. */
  passes: oneof(integer({ min: -20, max: 20 }), integer({ min: 0, max: 40_000 })),
});

type Step = typeof step extends Arbitrary<infer T> ? T : never;

function ledger(): Ledger {
  const states = IDS.map((id) => {
    const parent = CHILDREN.has(id) ? { ancestors: ["parent"] } : {};
    return item(id, { ...parent, ...(id === "parent" ? { openChildren: CHILDREN.size } : {}) });
  });
  const declared = Object.fromEntries(
    Object.entries(DECLARED).map(([id, one]) => [
      id,
      { ...one, requirements: one.requirements.map((each) => ({ ...each, ttlMs: 50_000 })) },
    ]),
  );
  return new Ledger(states, declared);
}

function run(kept: Ledger, { id, what, key }: Step, now: number): void {
  const { claim } = kept.states.get(id) ?? { claim: null };
  kept.decide(now, (world) => {
    if (what === "claim") return claimIt(world, id);
    if (what === "force") return forceRelease(world, id, key, { agent: "olga", reason: "because" });
    if (what === "release" || what === "lapse") {
      if (claim === null || (what === "lapse" && claim.expiresAt > now)) return null;
      const reason = what === "lapse" ? "expired" : "released";
      return endTenure(world, id, { reason, requeue: what === "lapse", detail: null, by: NOBODY });
    }
    return decide(world, id, what);
  });
}

/** As `claim_item` does: an item in work is claimed with what it has to have, or not at all. */
function claimIt(world: World, id: string): void {
  const state = world.get(id);
  if (state.claim !== null || state.role === "terminal" || state.dead || state.role === "work") return;
  grant(world, id, { agent: id, session: id, parentAgent: null, ttlMs: 30_000 });
}

function decide(world: World, id: string, trigger: Trigger): AdvanceVerdict {
  const { claim, fence } = world.get(id);
  return decideAdvance(
    world,
    {
      itemId: id,
      trigger,
      summary: null,
      label: null,
      writer: {
        agent: claim?.agent ?? null,
        session: claim?.session ?? null,
        fence: claim === null ? null : fence,
      },
      by: NOBODY,
      failure: { class: "environment", reason: null },
      operator: false,
      random: 0,
    },
    { now: world.now, seenDead: false, latestEnd: null, identity: "session" },
  );
}

/** Older tickets of others that share a key with what the item has now and had not before. */
function overtaken(before: Ledger["tickets"], gained: readonly string[], id: string): string[] {
  const own = before.find((ticket) => ticket.itemId === id)?.number ?? Infinity;
  return before
    .filter((ticket) => ticket.itemId !== id && ticket.number < own)
    .filter((ticket) => ticket.keys.some((key) => gained.includes(key)))
    .map((ticket) => ticket.itemId);
}

function overlaps(kept: Ledger, key: string, now: number): string[] {
  const intervals = kept.history
    .filter(({ lease }) => lease.key === key)
    .map(({ lease, end }) => ({ ...lease, until: end?.at ?? Math.max(now, lease.acquiredAt) + 1 }));
  return intervals.flatMap((one, index) =>
    intervals
      .slice(index + 1)
      .filter((other) => one.mode === "exclusive" || other.mode === "exclusive")
      .filter((other) => one.acquiredAt < other.until && other.acquiredAt < one.until)
      .map((other) => `${key}: ${one.itemId} ${one.acquiredAt} and ${other.itemId} ${other.acquiredAt}`),
  );
}

describe("any history of leases", () => {
  it("has one exclusive holder of a key at an instant, overtakes nobody and leaves nothing behind [B60][B61][B65]", () => {
    assert(
      property(array(step, { minLength: 20, maxLength: 120 }), (steps) => {
        const kept = ledger();
        let now = NOW;
        for (const one of steps) {
          now += one.passes;
          const tickets = kept.validTickets();
          const had = new Map(IDS.map((id) => [id, kept.states.get(id)?.leased ?? []]));
          run(kept, one, now);
          for (const id of IDS) {
            const gained = (kept.states.get(id)?.leased ?? []).filter((key) => !had.get(id)?.includes(key));
            expect(overtaken(tickets, gained, id)).toEqual([]);
          }
          check(kept, now);
        }
      }),
      { numRuns: 100 },
    );
  });
});

function check(kept: Ledger, now: number): void {
  for (const key of KEYS) {
    expect(overlaps(kept, key, now)).toEqual([]);
    const leases = kept.leases.filter((lease) => lease.key === key);
    const exclusive = leases.filter((lease) => lease.mode === "exclusive");
    expect(exclusive.length === 0 || leases.length === 1).toBe(true);
    expect(leases.length).toBeLessThanOrEqual(2);
  }
  for (const lease of kept.leases) {
    const state = kept.states.get(lease.itemId);
    expect(state?.role).toBe("work");
    expect(state?.leased).toContain(lease.key);
  }
  const open = kept.history.filter(({ end }) => end === null).map(({ lease }) => lease);
  expect(open.map((lease) => `${lease.itemId} ${lease.key}`).toSorted()).toEqual(
    kept.leases.map((lease) => `${lease.itemId} ${lease.key}`).toSorted(),
  );
  for (const id of IDS) {
    const state = kept.states.get(id);
    if (state?.role !== "work") expect(state?.leased).toEqual([]);
  }
  // Whoever is first in line for keys that nobody has is let through: the line never stands still.
  const world = kept.world(now);
  const first = kept.validTickets().toSorted((a, b) => a.number - b.number)[0];
  const waiting = first === undefined ? undefined : world.find(first.itemId);
  if (
    first !== undefined &&
    waiting !== undefined &&
    first.keys.every((key) => kept.holdersOf(key).length === 0)
  )
    expect(judgeLeases(world, waiting)).toBeNull();
}
