import { describe, expect, it } from "vitest";
import {
  type Asker,
  defaultRoles,
  findObstacles,
  type HeldAncestor,
  type Offer,
} from "../../../services/core/readiness.ts";
import type { ItemState } from "../../../services/core/state.ts";

const NOW = 1_000_000;
const READY: ItemState = {
  id: "item",
  rootId: "root",
  parentId: "root",
  ancestors: ["root"],
  role: "queue",
  previousRole: null,
  outcome: null,
  statusLabel: null,
  blockers: 0,
  ancestorBlockers: 0,
  openChildren: 0,
  doneChildren: 0,
  closeWithheld: false,
  availableAt: null,
  attempts: 0,
  dead: false,
  startGateOpen: true,
  claim: null,
  fence: 0,
  priority: "medium",
  complexity: null,
  createdAt: 0,
  type: null,
  tags: [],
  traits: [],
  needs: [],
  assignee: null,
  leased: [],
  lostLeases: [],
  reviewRounds: 0,
  reviewExcludes: [],
};
const QUEUE: Offer = { roles: ["queue"], containers: false, startable: false };
const ADA: Asker = { agent: "ada", capabilities: ["gpu"] };

interface Case {
  readonly item?: Partial<ItemState>;
  readonly held?: readonly HeldAncestor[];
  readonly offer?: Partial<Offer>;
  readonly asker?: Asker;
}

function codes({ item = {}, held = [], offer = {}, asker = ADA }: Case): string[] {
  const subject = { item: { ...READY, ...item }, heldAncestors: held };
  return findObstacles(subject, asker, { ...QUEUE, ...offer }, NOW).map((one) => one.code);
}

describe("an item is offered", () => {
  it("when nothing stands against it", () => {
    expect(codes({})).toEqual([]);
  });

  it("in the roles that are asked for, and in no other", () => {
    expect(codes({ item: { role: "work" } })).toEqual(["role"]);
    expect(codes({ item: { role: "work" }, offer: { roles: ["work", "queue"] } })).toEqual([]);
    expect(defaultRoles(false)).toEqual(["queue"]);
    expect(defaultRoles(true)).toEqual(["work", "queue"]);
  });

  it("once its time has come, at the very instant", () => {
    expect(codes({ item: { availableAt: NOW + 1 } })).toEqual(["not_yet"]);
    expect(codes({ item: { availableAt: NOW } })).toEqual([]);
  });

  it("below a claim only to the agent that holds it [B46]", () => {
    const held = [{ agent: "ada", expiresAt: NOW + 5 }];
    expect(codes({ held })).toEqual([]);
    expect(codes({ held, asker: { agent: "bob", capabilities: [] } })).toEqual(["ancestor_claimed"]);
    expect(codes({ held, asker: { agent: null, capabilities: [] } })).toEqual(["ancestor_claimed"]);
  });

  it("to nobody while it is claimed, not even when that claim has lapsed: it has to be ended first", () => {
    const claim = {
      agent: "ada",
      session: "s",
      claimedAt: 0,
      originalClaimedAt: 0,
      expiresAt: NOW - 1,
      ttlMs: 1,
    };
    expect(codes({ item: { claim } })).toEqual(["claimed"]);
  });

  it("to those who can do it, and to its assignee", () => {
    expect(codes({ item: { needs: ["gpu"] } })).toEqual([]);
    expect(codes({ item: { needs: ["gpu", "ios"] } })).toEqual(["capabilities"]);
    expect(codes({ item: { assignee: "ada" } })).toEqual([]);
    expect(codes({ item: { assignee: "ada-2" } })).toEqual(["assignee"]);
  });

  it("as a container only when asked for", () => {
    expect(codes({ item: { openChildren: 1 } })).toEqual(["container"]);
    expect(codes({ item: { openChildren: 1 }, offer: { containers: true } })).toEqual([]);
  });

  it("with a closed start gate unless only what can be started is wanted", () => {
    expect(codes({ item: { startGateOpen: false } })).toEqual([]);
    expect(codes({ item: { startGateOpen: false }, offer: { startable: true } })).toEqual(["start_gate"]);
  });

  it("not while it or an ancestor waits, nor when it is dead, and every reason is told", () => {
    const item = { role: "blocked", dead: true, blockers: 1, ancestorBlockers: 2 } as const;
    expect(codes({ item })).toEqual(["dead", "dependency_blocked", "ancestor_blocked"]);
  });
});
