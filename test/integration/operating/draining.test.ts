/** Agents that finish what they hold and take nothing new. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { ClaimGranted } from "../../../services/contract/claiming.ts";
import { worker } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";
import { describeDesk } from "./desk.ts";

describeDesk("draining an agent", (desk) => {
  it("gives it nothing new, by selector, by id or after a transition, says so, and gives to the others", async () => {
    const { db } = desk().database;
    const [held, next] = [await plantItem(db, { title: "held" }), await plantItem(db, { title: "next" })];
    const granted = (await desk().claim("ada", { itemId: held, start: true })) as ClaimGranted;
    expect(await desk().operate("drain_agent", { agent: "ada" })).toMatchObject({
      agent: "ada",
      drained: true,
      changed: true,
      claims: 1,
    });
    const refused = { outcome: "agent_drained", kind: "transient", retryAfterMs: 30_000 };
    expect(await desk().claim("ada", { selector: {} }, { workerId: "ada-other" })).toMatchObject(refused);
    expect(await desk().claim("ada", { itemId: next }, { workerId: "ada-other" })).toMatchObject(refused);
    const moved = await desk().ask("advance_item", {
      actor: worker("ada"),
      workerId: "ada-session",
      requestId: randomUUID(),
      transitions: [{ itemId: held, trigger: "complete", fence: granted.fence }],
      claimNext: { selector: {} },
    });
    expect(moved).toMatchObject({ results: [{ applied: true }], next: { outcome: "agent_drained" } });
    expect(await desk().claim("bob", { selector: {} })).toMatchObject({ outcome: "success", itemId: next });
  });

  it("lets it keep what it holds, from another session too, and tells it to drain with every heartbeat", async () => {
    const itemId = await plantItem(desk().database.db);
    const { fence } = (await desk().claim("ada", { itemId, start: true })) as ClaimGranted;
    expect(await desk().beat("ada", itemId, fence)).not.toHaveProperty("drain");
    await desk().operate("drain_agent", { agent: "ada" });
    expect(await desk().beat("ada", itemId, fence)).toMatchObject({ outcome: "success", drain: true });
    expect(await desk().beat("ada", itemId, fence)).toMatchObject({ outcome: "success", drain: true });
    expect(await desk().claim("ada", { itemId })).toMatchObject({ outcome: "success", fence });
    const taken = await desk().claim("ada", { itemId, fence }, { workerId: "ada-new" });
    expect(taken).toMatchObject({ outcome: "success", fence: fence + 2 });
  });

  it("takes what lapsed for new: a drained agent does not get its own lapsed item again", async () => {
    const itemId = await plantItem(desk().database.db);
    await desk().claim("ada", { itemId, ttlSeconds: 60 });
    await desk().operate("drain_agent", { agent: "ada" });
    await desk().database.advance(600_000);
    expect(await desk().claim("ada", { itemId }, { workerId: "ada-new" })).toMatchObject({
      outcome: "agent_drained",
    });
  });

  it("answers a claim of it that waits, and lets it take items again when it is over", async () => {
    const waiting = desk().ask("claim_item", {
      actor: worker("ada"),
      workerId: "ada-session",
      requestId: randomUUID(),
      claims: [{ selector: {} }],
      waitSeconds: 50,
    });
    // Registered by now or not: a claim that comes later is refused at once.
    await desk().operate("drain_agent", { agent: "ada" });
    expect((await waiting).claims).toMatchObject([{ outcome: "agent_drained" }]);
    const itemId = await plantItem(desk().database.db);
    expect(await desk().operate("drain_agent", { agent: "ada", drained: false })).toMatchObject({
      drained: false,
      changed: true,
    });
    expect(await desk().claim("ada", { selector: {} })).toMatchObject({ outcome: "success", itemId });
  });

  it("ends what it holds when asked to, and does nothing twice", async () => {
    const itemId = await plantItem(desk().database.db);
    const { fence } = (await desk().claim("ada", { itemId, start: true })) as ClaimGranted;
    const done = await desk().operate("drain_agent", { agent: "ada", revokeClaims: true });
    expect(done).toMatchObject({ changed: true, claims: 0, revokedItemIds: [itemId] });
    expect(await desk().beat("ada", itemId, fence)).toMatchObject({ outcome: "claim_lost" });
    expect(await desk().operate("drain_agent", { agent: "ada" })).toMatchObject({
      changed: false,
      drainedAt: done.drainedAt,
    });
    const audit = await desk()
      .database.db.selectFrom("audit_log")
      .select(["action", "agent", "data"])
      .where("action", "=", "agent.drained")
      .execute();
    expect(audit).toEqual([
      { action: "agent.drained", agent: "olga", data: { agent: "ada", reason: "the host is gone" } },
    ]);
  });

  it("is listed, never seen or not, with since when and why", async () => {
    await desk().operate("drain_agent", { agent: "unheard-of" });
    const itemId = await plantItem(desk().database.db);
    await desk().claim("bob", { itemId });
    const drained = await desk().agents({ drained: true });
    expect(drained).toMatchObject({ total: 1, agents: [{ agent: "unheard-of", claims: 0 }] });
    expect(drained.agents[0]).toMatchObject({ drainReason: "the host is gone" });
    const others = (await desk().agents({ drained: false })).agents.map((one) => one.agent);
    expect(others).toContain("bob");
    expect(others).not.toContain("unheard-of");
  });

  it("how the attempts of the last day ended is counted for each agent", async () => {
    const { db } = desk().database;
    const old = await plantItem(db);
    await desk().claim("ada", { itemId: old });
    await desk().advance({ itemId: old, trigger: "complete" }, "ada");
    await desk().database.advance(86_400_000);
    for (const trigger of ["complete", "complete", "fail"] as const) {
      const itemId = await plantItem(db);
      await desk().claim("ada", { itemId, start: true });
      const reason = trigger === "fail" ? { reason: "it burns" } : {};
      await desk().advance({ itemId, trigger, ...reason }, "ada");
    }
    await desk().claim("ada", { itemId: await plantItem(db) });
    const { agents } = await desk().agents();
    expect(agents.find((one) => one.agent === "ada")?.attempts).toEqual({ completed: 2, failed: 1, open: 1 });
  });
});
