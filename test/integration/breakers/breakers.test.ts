/** A root whose environment is broken: nothing of it is offered but one probe at a time. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { ClaimRefused } from "../../../services/contract/claiming.ts";
import { plantItem } from "../../support/fixtures.ts";
import { describeDesk } from "../operating/desk.ts";

const MINUTE_MS = 60_000;

describeDesk("the breaker of a root", (desk) => {
  /** A root with so many leaves. */
  const plant = async (leaves: number): Promise<string> => {
    const { db } = desk().database;
    await sql`truncate root_ends`.execute(db);
    const rootId = await plantItem(db, { title: "root" });
    for (let n = 0; n < leaves; n += 1) await plantItem(db, { parentId: rootId, title: `leaf ${n}` });
    return rootId;
  };
  const claimIn = (agent: string, ancestorId: string) =>
    desk().claim(agent, { selector: { ancestorId }, start: true });
  const refusedIn = async (agent: string, ancestorId: string): Promise<ClaimRefused> => {
    const result = await claimIn(agent, ancestorId);
    if (result.outcome === "success") throw new Error(`${agent} was given an item`);
    return result;
  };
  const end = async (agent: string, rootId: string, how: "complete" | "environment" | "item") => {
    const claimed = await claimIn(agent, rootId);
    if (claimed.outcome !== "success") throw new Error(`nothing for ${agent}: ${claimed.error}`);
    const { itemId } = claimed;
    const move =
      how === "complete"
        ? ({ itemId, trigger: "complete" } as const)
        : ({ itemId, trigger: "fail", class: how, reason: "no route to host" } as const);
    expect(await desk().advance(move, agent)).toMatchObject({ applied: true });
    return itemId;
  };
  const breakRoot = async (leaves = 12): Promise<string> => {
    const rootId = await plant(leaves);
    for (let n = 0; n < 5; n += 1) await end("ada", rootId, "environment");
    return rootId;
  };

  it("opens after five failures of the environment, and says so in the empty answer with its next probe", async () => {
    const rootId = await breakRoot();
    const refused = await refusedIn("bob", rootId);
    expect(refused).toMatchObject({
      outcome: "none_eligible",
      kind: "transient",
      excluded: { pausedRoots: 1 },
    });
    expect(refused.excluded?.paused).toBe(12);
    expect(refused.error).toMatch(
      /paused, since most attempts there failed .*; one claim is let through as a probe at /,
    );
    const waitMs = Date.parse(refused.nextAt ?? "") - Date.now();
    expect(refused.retryAfterMs).toBeLessThanOrEqual(30_000);
    expect(waitMs).toBeLessThanOrEqual(30_000);
    const next = await desk().next({ ancestorId: rootId });
    expect(next).toMatchObject({ recommendations: [], excluded: { pausedRoots: 1 } });
  });

  it("stays closed while most attempts get through, or fail by the fault of their items", async () => {
    const rootId = await plant(20);
    for (let n = 0; n < 4; n += 1) {
      await end("ada", rootId, "complete");
      await end("ada", rootId, n % 2 === 0 ? "complete" : "item");
      await end("ada", rootId, "environment");
    }
    expect(await claimIn("bob", rootId)).toMatchObject({ outcome: "success" });
  });

  it("pauses its own root and no other, and every view of its items agrees", async () => {
    const rootId = await breakRoot();
    const other = await plantItem(desk().database.db, { title: "elsewhere" });
    expect(await desk().claim("bob", { selector: {} })).toMatchObject({ itemId: other });
    const { items } = await desk().search({ ancestorId: rootId, role: "queue" });
    const fresh = items.find((item) => item.title === "leaf 11")?.id ?? "";
    expect(await desk().get(fresh)).toMatchObject({ ready: false });
    expect((await desk().explain(fresh)).reasons).toMatchObject([{ code: "root_paused" }]);
    expect(await desk().search({ ancestorId: rootId, readiness: "ready" })).toMatchObject({ total: 0 });
  });

  it("lets one claim through as a probe when its wait is over, however many ask at once", async () => {
    const rootId = await breakRoot();
    await desk().database.advance(MINUTE_MS);
    const asked = await Promise.all(["bob", "cid", "dan", "eve"].map((agent) => claimIn(agent, rootId)));
    expect(asked.filter((one) => one.outcome === "success")).toHaveLength(1);
    for (const one of asked) {
      if (one.outcome !== "success") expect(one).toMatchObject({ excluded: { pausedRoots: 1 } });
    }
    expect((await refusedIn("fay", rootId)).error).toContain("a probe is under way");
  });

  it("closes by itself when the probe gets through", async () => {
    const rootId = await breakRoot();
    await desk().database.advance(MINUTE_MS);
    await end("bob", rootId, "complete");
    expect(await claimIn("cid", rootId)).toMatchObject({ outcome: "success" });
    expect(await claimIn("dan", rootId)).toMatchObject({ outcome: "success" });
    expect(await desk().ask("list_breakers", {})).toEqual({ breakers: [], hasMore: false });
  });

  it("a sweep closes it too, when nobody asks for the root", async () => {
    const rootId = await breakRoot();
    await desk().database.advance(MINUTE_MS);
    await end("bob", rootId, "complete");
    await desk().engine.engine.sweep(new AbortController().signal);
    expect(await desk().ask("list_breakers", {})).toMatchObject({ breakers: [] });
  });

  it("waits longer after a probe that fails, and goes on probing", async () => {
    const rootId = await breakRoot();
    await desk().database.advance(MINUTE_MS);
    await end("bob", rootId, "environment");
    // Each time somebody else: an empty answer is remembered for a moment of real time.
    await refusedIn("cid", rootId);
    await desk().database.advance(MINUTE_MS / 2);
    await refusedIn("dan", rootId);
    await desk().database.advance(MINUTE_MS);
    await end("eve", rootId, "complete");
    expect(await claimIn("fay", rootId)).toMatchObject({ outcome: "success" });
  });

  it("a probe whose agent dies is followed by another when its claim has lapsed", async () => {
    const rootId = await breakRoot();
    await desk().database.advance(MINUTE_MS);
    await claimIn("bob", rootId);
    await refusedIn("cid", rootId);
    // Past its ttl, and what a lost clock may add to it.
    await desk().database.advance(30 * MINUTE_MS);
    await desk().engine.engine.sweep(new AbortController().signal);
    await desk().database.advance(MINUTE_MS);
    expect(await claimIn("dan", rootId)).toMatchObject({ outcome: "success" });
  });

  it("a claim by id is given with a warning", async () => {
    const rootId = await breakRoot();
    const itemId = await plantItem(desk().database.db, { parentId: rootId, title: "urgent" });
    expect(await desk().claim("bob", { itemId })).toMatchObject({
      outcome: "success",
      warnings: [expect.stringContaining("claiming in its root is paused")],
    });
  });

  it("operators see it and reset it, once; what failed before does not open it again", async () => {
    const rootId = await breakRoot();
    const { breakers } = await desk().ask("list_breakers", {});
    expect(breakers).toMatchObject([
      { rootId, title: "root", failures: 5, ends: 5, reason: "no route to host", failedProbes: 0 },
    ]);
    expect(await desk().operate("reset_breaker", { rootId, reason: "the route is back" })).toEqual({
      rootId,
      changed: true,
    });
    expect(await desk().operate("reset_breaker", { rootId })).toMatchObject({ changed: false });
    await end("bob", rootId, "environment");
    expect(await claimIn("cid", rootId)).toMatchObject({ outcome: "success" });
  });

  it("a claim that waits is answered when the breaker closes", async () => {
    const rootId = await breakRoot();
    await desk().database.advance(MINUTE_MS);
    const probe = await claimIn("bob", rootId);
    const waiting = desk().ask("claim_item", {
      actor: { id: "cid", kind: "subagent" },
      workerId: "cid-session",
      requestId: "0b0a7c52-3f4e-4b7e-9d43-0f4f5f1f6a01",
      waitSeconds: 20,
      claims: [{ selector: { ancestorId: rootId }, start: true }],
    });
    if (probe.outcome !== "success") throw new Error("no probe");
    await desk().advance({ itemId: probe.itemId, trigger: "complete" }, "bob");
    await desk().engine.engine.sweep(new AbortController().signal);
    expect((await waiting).claims).toMatchObject([{ outcome: "success" }]);
  });
});
