import { describe, expect, it } from "vitest";
import type { ClaimCall } from "../../../services/engine/claims/claim-call.ts";
import { grantClaim } from "../../../services/engine/claims/grant-claim.ts";
import type { ItemState } from "../../../services/core/state.ts";
import { NOBODY, type World } from "../../../services/core/world.ts";
import { claimOf, item, NOW, worldOf } from "../core/world-of.ts";

const LATER = NOW + 3_600_000;

function call(change: Partial<ClaimCall> = {}): ClaimCall {
  return {
    target: { kind: "item", itemId: "i" },
    agent: "bob",
    session: "bob-1",
    parentAgent: null,
    capabilities: [],
    author: NOBODY,
    ttlMs: 60_000,
    start: false,
    fence: null,
    claimRef: null,
    record: null,
    deadFence: null,
    signal: new AbortController().signal,
    ...change,
  };
}

const grant = (world: World, one: ClaimCall, others: readonly string[] = []) =>
  grantClaim(world, one, "i", others, "session");

const held = (state: Partial<ItemState> = {}): ItemState =>
  item("i", { claim: claimOf(), fence: 3, role: "work", ...state });

describe("granting a claim", () => {
  it("on an item whose lapsed claim was all that kept it open ends that claim and is refused: nobody holds what is closed", () => {
    const world = worldOf({ states: [held({ closeWithheld: true, doneChildren: 1 })], now: LATER });
    expect(grant(world, call())).toEqual({ kind: "refused", code: "terminal_item" });
    expect(world.get("i")).toMatchObject({ role: "terminal", outcome: "done", claim: null });
  });

  it("on an item whose lapsed claim was its last allowed attempt ends that claim and is refused", () => {
    const world = worldOf({ states: [held({ attempts: 4 })], now: LATER });
    expect(grant(world, call())).toEqual({ kind: "refused", code: "item_dead" });
    expect(world.get("i")).toMatchObject({ dead: true, claim: null });
  });

  it("to another session of its agent goes on with the tenure: nothing is requeued and nothing closes in between", () => {
    const world = worldOf({ states: [held({ closeWithheld: true, doneChildren: 1 })], now: NOW + 1_000 });
    const verdict = grant(world, call({ agent: "ann", session: "ann-2", fence: 3 }));
    expect(verdict).toMatchObject({ kind: "granted", started: false });
    const after = world.get("i");
    expect(after).toMatchObject({ role: "work", closeWithheld: true, attempts: 0 });
    expect(after.claim).toMatchObject({ session: "ann-2", originalClaimedAt: NOW, claimedAt: NOW + 1_000 });
    expect(after.fence).toBeGreaterThan(3);
  });

  it("with start: true starts what a lapsed holder left in work again from the queue", () => {
    const world = worldOf({ states: [held()], now: LATER });
    expect(grant(world, call({ start: true }))).toMatchObject({ kind: "granted", started: true });
    expect(world.get("i")).toMatchObject({ role: "work", attempts: 1 });
  });

  it("with start: true is refused before anything is changed when it cannot be started", () => {
    const world = worldOf({ states: [held({ blockers: 1 })], now: LATER });
    expect(grant(world, call({ start: true }))).toMatchObject({ kind: "not_startable" });
    expect(world.changed()).toEqual([]);
  });

  it("releases what the holder held, and hands that back to the queue if it was in work", () => {
    const other = item("other", {
      claim: claimOf({ agent: "bob", session: "bob-1" }),
      fence: 1,
      role: "work",
    });
    const world = worldOf({ states: [item("i"), other] });
    expect(grant(world, call(), ["other"])).toMatchObject({ kind: "granted" });
    expect(world.get("other")).toMatchObject({ claim: null, role: "queue", attempts: 0, fence: 2 });
  });

  it("releases nothing when it is refused", () => {
    const other = item("other", { claim: claimOf({ agent: "bob", session: "bob-1" }), fence: 1 });
    const world = worldOf({ states: [held(), other], now: NOW + 1_000 });
    expect(grant(world, call(), ["other"])).toMatchObject({ kind: "held" });
    expect(world.changed()).toEqual([]);
  });

  it("is refused before anything is changed when letting go of what the holder held blocks the start", () => {
    const mine = claimOf({ agent: "bob", session: "bob-1" });
    const other = item("other", { claim: mine, fence: 1, role: "work" });
    const world = worldOf({
      states: [item("i"), other],
      edges: [
        { id: "e", from: "other", to: "i", threshold: "work", onCancelled: "hold", toHasChildren: false },
      ],
    });
    expect(grant(world, call({ start: true }), ["other"])).toMatchObject({
      kind: "not_startable",
      refusal: { code: "dependency_blocked" },
    });
    expect(world.changed()).toEqual([]);
  });

  it("is refused when letting go of what the holder held closes the item: nobody holds what is closed", () => {
    const mine = claimOf({ agent: "bob", session: "bob-1" });
    const below = { parentId: "i", ancestors: ["i"], rootId: "i" };
    const other = item("other", {
      ...below,
      claim: mine,
      fence: 1,
      role: "work",
      closeWithheld: true,
      doneChildren: 1,
    });
    const world = worldOf({ states: [item("i", { role: "work", openChildren: 1 }), other] });
    expect(grant(world, call(), ["other"])).toEqual({ kind: "refused", code: "terminal_item" });
    expect(world.get("i")).toMatchObject({ role: "terminal", outcome: "done", claim: null });
  });

  it("to another session of its agent stays capped at a day since the first claim", () => {
    const claim = claimOf({ originalClaimedAt: LATER - 86_400_000 + 5_000, expiresAt: LATER + 1_000 });
    const world = worldOf({ states: [held({ claim })], now: LATER });
    expect(grant(world, call({ agent: "ann", session: "ann-2", fence: 3 }))).toMatchObject({
      kind: "granted",
    });
    expect(world.get("i").claim).toMatchObject({ session: "ann-2", expiresAt: LATER + 5_000 });
  });

  it("to another session of its agent is refused once the tenure is a day old, as it is to its holder", () => {
    const claim = claimOf({ originalClaimedAt: LATER - 86_400_000, expiresAt: LATER + 1_000 });
    const world = worldOf({ states: [held({ claim })], now: LATER });
    const taking = call({ agent: "ann", session: "ann-2", fence: 3 });
    expect(grant(world, taking)).toEqual({ kind: "refused", code: "tenure_over" });
  });

  it("to its own holder goes on under the same fence, capped at a day since the first claim", () => {
    const first = LATER - 86_400_000 + 5_000;
    const claim = claimOf({ claimedAt: LATER - 10_000, originalClaimedAt: first });
    const world = worldOf({ states: [held({ claim })], now: LATER });
    expect(grant(world, call({ agent: "ann", session: "ann-1" }))).toMatchObject({
      kind: "granted",
      refreshed: true,
    });
    expect(world.get("i")).toMatchObject({ fence: 3, claim: { expiresAt: LATER + 5_000 } });
  });
});
