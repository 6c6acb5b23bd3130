/**
 * The loop against a clock that the test moves. `vi` replaces the timers, and `now` reads
 * the same clock, so that hours pass in milliseconds.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MusterClientError } from "../../../services/worker-sdk/errors.ts";
import { createHeartbeatLoop, type RefreshFunc } from "../../../services/worker-sdk/heartbeat-loop.ts";
import { createCell, type FromThread } from "../../../services/worker-sdk/heartbeat-messages.ts";
import type { RefreshRequest, RefreshResult } from "../../../services/worker-sdk/shapes.ts";
import { trustedUntil } from "../../../services/worker-sdk/trust-window.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

interface Setup {
  readonly answer?: (request: RefreshRequest) => RefreshResult["outcome"];
  /** Throws what the call is to fail with. */
  readonly before?: () => void;
}

function setup({ answer = () => "success", before = () => {} }: Setup = {}) {
  const calls: { readonly atMs: number; readonly itemIds: string[] }[] = [];
  const reports: FromThread[] = [];
  const refresh: RefreshFunc = async (refreshes) => {
    const firstTryAtMs = Date.now();
    calls.push({ atMs: firstTryAtMs, itemIds: refreshes.map(({ itemId }) => itemId) });
    before();
    const results = refreshes.map((request) => ({ itemId: request.itemId, outcome: answer(request) }));
    return { results, firstTryAtMs };
  };
  const loop = createHeartbeatLoop({
    refresh,
    report: (message) => reports.push(message),
    now: Date.now,
    random: () => 1,
  });
  const attach = (itemId: string, ttlMs: number) => {
    const cell = createCell(trustedUntil(Date.now(), ttlMs));
    loop.attach({ itemId, fence: 7, ttlMs, memory: cell.memory });
    return cell;
  };
  return { calls, reports, attach };
}

describe("heartbeat loop", () => {
  it("renews all claims in one call, a third of the shortest ttl apart", async () => {
    const { calls, attach } = setup();
    attach("slow", 90_000);
    attach("quick", 3_000);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(calls).toEqual([1_000, 2_000, 3_000].map((atMs) => ({ atMs, itemIds: ["slow", "quick"] })));
  });

  it("moves the trust window on with each renewal, counted from when it was asked for", async () => {
    const { attach } = setup();
    const cell = attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(cell.trustedUntilMs()).toBe(trustedUntil(1_000, 3_000));
  });

  it("hundreds of renewals later the claim is held as before [F-09]", async () => {
    const { calls, attach } = setup();
    const cell = attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(calls).toHaveLength(300);
    expect(cell.state()).toBe("held");
  });

  it("tries again soon when nobody answers, and does not call that a loss [F-07]", async () => {
    let down = true;
    const { calls, reports, attach } = setup({
      before: () => {
        if (down) throw new Error("connection refused");
      },
    });
    const cell = attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(calls.length).toBeGreaterThan(2);
    expect(cell.state()).toBe("held");
    down = false;
    await vi.advanceTimersByTimeAsync(500);
    expect(cell.trustedUntilMs()).toBeGreaterThanOrEqual(trustedUntil(1_500, 3_000));
    expect(reports.filter(({ type }) => type === "lost")).toEqual([]);
  });

  it("reports a lost claim once and goes on with the others", async () => {
    const { calls, reports, attach } = setup({
      answer: ({ itemId }) => (itemId === "gone" ? "claim_lost" : "success"),
    });
    const [gone, kept] = [attach("gone", 3_000), attach("kept", 3_000)];
    await vi.advanceTimersByTimeAsync(3_000);
    expect([gone.state(), kept.state()]).toEqual(["lost", "held"]);
    expect(reports.filter(({ type }) => type === "lost")).toEqual([
      { type: "lost", itemId: "gone", fence: 7, lossCause: "claim_lost" },
    ]);
    expect(calls.map(({ itemIds }) => itemIds)).toEqual([["gone", "kept"], ["kept"], ["kept"]]);
  });

  it.each(["tenure_over", "not_found"] as const)("takes %s for a loss too", async (outcome) => {
    const { reports, attach } = setup({ answer: () => outcome });
    attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reports).toContainEqual({ type: "lost", itemId: "item", fence: 7, lossCause: outcome });
  });

  it("keeps a claim whose own renewal failed for a passing reason", async () => {
    const { reports, attach } = setup({ answer: () => "db_error" });
    const cell = attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(cell.state()).toBe("held");
    expect(reports.filter(({ type }) => type === "lost")).toEqual([]);
  });

  it("does not renew what ended, from the moment it ended", async () => {
    const { calls, attach } = setup();
    const cell = attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(999);
    cell.end();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls).toEqual([]);
  });

  it("renews what is being handed in only if that takes long", async () => {
    const { calls, attach } = setup();
    const cell = attach("item", 3_000);
    cell.beginEnding();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toHaveLength(1);
  });

  it("cannot lose what is being handed in: the answer to that decides", async () => {
    const { reports, attach } = setup({ answer: () => "claim_lost" });
    const cell = attach("item", 3_000);
    cell.beginEnding();
    await vi.advanceTimersByTimeAsync(2_500);
    expect(reports.filter(({ type }) => type === "lost")).toEqual([]);
  });

  it("waits as long as a shedding server asks, but not until the claims are gone", async () => {
    const refuse = (retryAfterMs: number) => () => {
      throw new MusterClientError("busy", { code: "unavailable", kind: "shedding", retryAfterMs });
    };
    const patient = setup({ before: refuse(600) });
    patient.attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(1_700);
    expect(patient.calls.map(({ atMs }) => atMs)).toEqual([1_000, 1_600]);

    const hasty = setup({ before: refuse(60_000) });
    hasty.attach("item", 3_000);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(hasty.calls.length).toBeGreaterThan(1);
  });

  it("asks for more than 100 in several calls", async () => {
    const { calls, attach } = setup();
    for (let index = 0; index < 130; index += 1) attach(`item ${index}`, 3_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.map(({ itemIds }) => itemIds.length)).toEqual([100, 30]);
  });

  it("is quiet when nothing is held", async () => {
    const { calls, attach } = setup();
    attach("item", 3_000).end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(calls).toEqual([]);
  });
});
