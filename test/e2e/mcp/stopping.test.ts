import { describe, expect, it } from "vitest";
import { callTool, send } from "../../support/raw-mcp.ts";
import { scriptedEngine, type EngineCall } from "../../support/scripted-engine.ts";
import { serveEngine } from "../../support/server.ts";

const ANSWER = {
  itemId: "6b1f0a52-6a4b-4a7e-9d86-0a4f2f6a1c11",
  currentRole: "queue",
  recommendation: "Ready",
};
const ARGS = { itemId: ANSWER.itemId };

/** An engine whose calls wait until the test answers them. */
function waitingEngine() {
  const arrived = Promise.withResolvers<EngineCall>();
  const release = Promise.withResolvers<Record<string, unknown>>();
  const engine = scriptedEngine((call) => {
    arrived.resolve(call);
    return release.promise;
  });
  return { engine, arrived: arrived.promise, release: () => release.resolve(ANSWER) };
}

describe.each(["legacy", "modern"] as const)("a client of the %s era that hangs up during a wait", (era) => {
  it("aborts the caller's signal", async () => {
    const { engine, arrived, release } = waitingEngine();
    const server = await serveEngine(engine);
    const client = new AbortController();
    const answer = callTool(era, server.mcpUrl, "get_next_status", ARGS, {}, client.signal);
    const { caller } = await arrived;
    expect(caller.signal.aborted).toBe(false);
    const aborted = new Promise((resolve) => caller.signal.addEventListener("abort", resolve));
    client.abort();
    await expect(answer).rejects.toThrow("aborted");
    await aborted;
    release();
    await server.close();
  });

  it("does not abort it once the answer was sent", async () => {
    const { engine, arrived, release } = waitingEngine();
    const server = await serveEngine(engine);
    const answer = callTool(era, server.mcpUrl, "get_next_status", ARGS);
    const { caller } = await arrived;
    const { signal } = caller;
    release();
    expect((await answer).status).toBe(200);
    await server.close();
    expect(signal.aborted).toBe(false);
  });
});

describe("stopping", () => {
  it("drains the engine, lets what runs finish and takes nothing new", async () => {
    const { engine, arrived, release } = waitingEngine();
    const server = await serveEngine(engine);
    const running = callTool("modern", server.mcpUrl, "get_next_status", ARGS);
    await arrived;
    const stopped = server.api.close(10_000);
    await expect.poll(() => engine.drained()).toBe(true);
    await expect(send(`${server.url}/livez`, { method: "GET" })).rejects.toThrow("ECONNREFUSED");
    release();
    const answer = await running;
    expect([answer.status, answer.headers.connection]).toEqual([200, "close"]);
    await stopped;
  });

  it("cuts off what still runs at the deadline, and aborts it", async () => {
    const { engine, arrived, release } = waitingEngine();
    const server = await serveEngine(engine);
    const running = callTool("modern", server.mcpUrl, "get_next_status", ARGS);
    const { caller } = await arrived;
    expect(caller.signal.aborted).toBe(false);
    await Promise.all([expect(running).rejects.toThrow("socket hang up"), server.api.close(0)]);
    await expect.poll(() => caller.signal.aborted).toBe(true);
    release();
  });

  it("may be asked for before listening and twice", async () => {
    const { engine } = waitingEngine();
    const server = await serveEngine(engine);
    await server.close();
    await server.close();
  });
});
