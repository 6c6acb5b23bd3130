import { FULL_ACCESS } from "../../../services/engine/access.ts";
import { describe, expect, it } from "vitest";
import { createActivity } from "../../../services/api/activity.ts";
import { createHealth } from "../../../services/runtime/health.ts";
import { scriptedEngine } from "../../support/scripted-engine.ts";

const CALLER = {
  access: FULL_ACCESS,
  credential: null,
  session: null,
  client: null,
  requestId: "r",
  signal: new AbortController().signal,
};

describe("whether a server is of use to somebody", () => {
  it("it is while a call runs, however long, and from its end on the time counts", async () => {
    let now = 0;
    const activity = createActivity(() => now);
    const call = Promise.withResolvers<Record<string, unknown>>();
    const engine = activity.watchEngine(scriptedEngine(() => call.promise));
    const running = engine.execute("claim_item", {}, CALLER);
    now = 100_000;
    expect(activity.idleMs()).toBe(0);
    call.resolve({});
    await running;
    now = 100_500;
    expect(activity.idleMs()).toBe(500);
  });

  it("a client that asks whether it lives is one; a look at its readiness is not", async () => {
    let now = 0;
    const activity = createActivity(() => now);
    const health = activity.watchHealth(createHealth({ checks: {} }));
    now = 1_000;
    await health.ready();
    expect(activity.idleMs()).toBe(1_000);
    health.live();
    expect(activity.idleMs()).toBe(0);
  });
});
