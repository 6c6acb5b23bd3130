import { describe, expect, it } from "vitest";
import type { EndReason } from "../../../services/core/state.ts";
import { judgeWriter, type Writer } from "../../../services/core/writer.ts";
import { claimOf, item, NOW } from "./world-of.ts";

const CLAIM = claimOf({ ttlMs: 60_000 });
const held = item("i", { claim: CLAIM, fence: 7, role: "work" });
const free = item("i", { fence: 8 });
const ANN = { agent: "ann", session: "ann-1", fence: null };
const BOB = { agent: "bob", session: "bob-1", fence: null };
const NOBODY = { agent: null, session: null, fence: null };

interface Case {
  readonly says: string;
  readonly item: typeof held;
  readonly writer: Writer;
  readonly open: string;
  readonly holder: string;
  readonly at?: number;
  readonly seenDead?: boolean;
  readonly latestEnd?: EndReason;
}

const CASES: readonly Case[] = [
  { says: "its holder", item: held, writer: ANN, open: "ok", holder: "ok" },
  { says: "its holder with the fence", item: held, writer: { ...ANN, fence: 7 }, open: "ok", holder: "ok" },
  {
    says: "its holder by agent and fence from a session that does not say",
    item: held,
    writer: { agent: "ann", session: null, fence: 7 },
    open: "ok",
    holder: "ok",
  },
  {
    says: "its holder past the expiry, while nobody took the item",
    item: held,
    writer: ANN,
    at: CLAIM.expiresAt + 90_000,
    open: "ok",
    holder: "ok",
  },
  {
    says: "its holder with an old fence",
    item: held,
    writer: { ...ANN, fence: 5 },
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "its holder with the fence of a tenure to come",
    item: held,
    writer: { ...ANN, fence: 8 },
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "another agent that guessed the fence",
    item: held,
    writer: { ...BOB, fence: 7 },
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "an agent whose fence outlived the claim",
    item: free,
    writer: { ...ANN, fence: 7 },
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "the same name in another session",
    item: held,
    writer: { ...ANN, session: "ann-2" },
    open: "ok",
    holder: "not_holder",
  },
  {
    says: "the same name without any session",
    item: held,
    writer: { ...ANN, session: null },
    open: "ok",
    holder: "not_holder",
  },
  { says: "another agent", item: held, writer: BOB, open: "ok", holder: "not_holder" },
  { says: "nobody in particular", item: held, writer: NOBODY, open: "ok", holder: "not_holder" },
  { says: "anybody, of a free item", item: free, writer: BOB, open: "ok", holder: "ok" },
  { says: "nobody in particular, of a free item", item: free, writer: NOBODY, open: "ok", holder: "ok" },
  {
    says: "another agent at the expiry, when the clock saw the holder die [B49]",
    item: held,
    writer: BOB,
    at: CLAIM.expiresAt,
    seenDead: true,
    open: "ok",
    holder: "free_first",
  },
  {
    says: "another agent at the expiry, before the clock was asked",
    item: held,
    writer: BOB,
    at: CLAIM.expiresAt,
    open: "ok",
    holder: "not_holder",
  },
  {
    says: "another agent when no clock can say otherwise any more",
    item: held,
    writer: BOB,
    at: CLAIM.expiresAt + 30_000,
    open: "ok",
    holder: "free_first",
  },
  {
    says: "a session whose claim expired, of an item that is free by now",
    item: free,
    writer: ANN,
    latestEnd: "expired",
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "a session whose claim was revoked",
    item: free,
    writer: ANN,
    latestEnd: "revoked",
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "a session that was displaced, of an item that is another's by now",
    item: held,
    writer: BOB,
    latestEnd: "expired",
    open: "claim_lost",
    holder: "claim_lost",
  },
  {
    says: "a session that gave its claim back",
    item: free,
    writer: ANN,
    latestEnd: "released",
    open: "ok",
    holder: "ok",
  },
  {
    says: "a session that finished",
    item: free,
    writer: ANN,
    latestEnd: "completed",
    open: "ok",
    holder: "ok",
  },
  {
    says: "a session whose attempt failed",
    item: free,
    writer: ANN,
    latestEnd: "failed",
    open: "ok",
    holder: "ok",
  },
];

describe.each(["open", "holder"] as const)("the %s door, asked by", (door) => {
  it.each(CASES)("$says", (one) => {
    const verdict = judgeWriter(one.item, one.writer, door, {
      now: one.at ?? NOW + 1_000,
      seenDead: one.seenDead ?? false,
      latestEnd: one.latestEnd ?? null,
      identity: "session",
    });
    expect(verdict.kind).toBe(one[door]);
  });
});

describe("where the name alone is the holder", () => {
  it("any session of it, and none, may write", () => {
    const context = { now: NOW, seenDead: false, latestEnd: null, identity: "actor" as const };
    expect(judgeWriter(held, { ...ANN, session: "ann-2" }, "holder", context).kind).toBe("ok");
    expect(judgeWriter(held, { ...ANN, session: null }, "holder", context).kind).toBe("ok");
    expect(judgeWriter(held, BOB, "holder", context).kind).toBe("not_holder");
  });
});
