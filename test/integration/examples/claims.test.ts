/** The documented examples of `claim_item`; its answer's lists are called claims and releases here. */
/* oxlint-disable typescript/no-unsafe-assignment -- an example says itself which fields it shows */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { Desk, NUMBER, TIME } from "./desk.ts";

describeEachDatabase("the examples of claims", (database) => {
  let desk: Desk;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    return () => engine.close();
  });

  const bySelector = (selector: object) => ({
    claims: [{ selector, ttlSeconds: 900, claimRef: "worker-7-round-42" }],
    actor: { id: "worker-agent-7", kind: "subagent", parent: "orchestrator-1" },
    requestId: randomUUID(),
  });
  const granted = (itemId: string) => ({
    itemId,
    outcome: "success",
    claimedBy: "worker-agent-7",
    claimedAt: TIME,
    claimExpiresAt: TIME,
  });

  it("claim_item: the best item for a selector", async () => {
    const itemId = await desk.item("Design login flow", { priority: "high", complexity: 2 });
    const call = bySelector({ priority: "high", complexityMax: 4, orderBy: "oldest" });
    expect(await desk.call("claim_item", call)).toMatchObject({
      claims: [{ ...granted(itemId), selectorResolved: true, claimRef: "worker-7-round-42" }],
      releases: [],
    });
  });

  it("claim_item: nothing matches the selector", async () => {
    const call = bySelector({ priority: "high", complexityMax: 4, orderBy: "oldest" });
    expect(await desk.call("claim_item", call)).toMatchObject({
      claims: [{ outcome: "queue_empty", claimRef: "worker-7-round-42" }],
      releases: [],
    });
  });

  it("claim_item: one item, which another agent cannot have then", async () => {
    const itemId = await desk.item("Design login flow");
    const first = await desk.claim("worker-agent-7", { itemId, ttlSeconds: 900 });
    expect(first).toMatchObject({ claims: [granted(itemId)], releases: [] });
    const second = await desk.claim("worker-agent-8", { itemId, ttlSeconds: 900 });
    expect(second).toMatchObject({
      claims: [
        { outcome: "already_claimed", kind: "transient", contendedItemId: itemId, retryAfterMs: NUMBER },
      ],
      releases: [],
    });
    expect(JSON.stringify(second)).not.toContain("worker-agent-7");
  });
});
