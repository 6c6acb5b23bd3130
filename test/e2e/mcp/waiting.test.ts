/** Sessions and waits as the engine lives them, behind real connections. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Caller, Engine } from "../../../services/engine/engine.ts";
import { callTool, initialize, type RawAnswer } from "../../support/raw-mcp.ts";
import { serveEngine, startTestServer, type RealServer } from "../../support/server.ts";

const ERAS = ["legacy", "modern"] as const;
const PLANNER = { id: "planner", kind: "orchestrator" };

let server: RealServer;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
});
afterAll(() => server.close());

/** The same engine behind a door of its own, and a promise of who called it first. */
function observed(engine: Engine): { engine: Engine; firstCaller: Promise<Caller> } {
  const { promise, resolve } = Promise.withResolvers<Caller>();
  const execute: Engine["execute"] = (name, input, caller) => {
    resolve(caller);
    return engine.execute(name, input, caller);
  };
  return { engine: { ...engine, execute }, firstCaller: promise };
}

/** A door that can close while the engine goes on for other doors. */
async function openDoor() {
  const { engine, firstCaller } = observed(server.engine);
  return { door: await serveEngine({ ...engine, drain: () => {} }), firstCaller };
}

async function plant(tags: string): Promise<void> {
  const args = {
    operation: "create",
    actor: PLANNER,
    requestId: randomUUID(),
    items: [{ title: "Work", tags }],
  };
  const { result } = (await callTool("modern", server.mcpUrl, "manage_items", args)).json();
  expect(result?.isError).toBeUndefined();
}

function claimArgs(agent: string, tags: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const actor = { id: agent, kind: "subagent" };
  return { actor, requestId: randomUUID(), claims: [{ selector: { tags } }], ...more };
}

interface Claims {
  readonly claims: readonly [{ readonly outcome: string; readonly itemId: string; readonly fence: number }];
  readonly workerId: string;
}

const claimed = (answer: RawAnswer): Claims => answer.json().result?.structuredContent as unknown as Claims;

describe("a claim held by a session of the 2025 era", () => {
  it("goes on at another replica without a workerId, and not without the session [F-24]", async () => {
    const tags = randomUUID();
    await plant(tags);
    const another = await server.serveAnother();
    const session = { "mcp-session-id": await initialize(server.mcpUrl) };
    const args = claimArgs("agent-24", tags);
    const first = claimed(await callTool("legacy", server.mcpUrl, "claim_item", args, session));
    const [{ outcome, itemId, fence }] = first.claims;
    expect(outcome).toBe("success");
    expect(first.workerId).toMatch(/^mcp-/);

    const actor = args["actor"];
    const advance = (headers: Record<string, string>) => {
      const transitions = [{ itemId, trigger: "complete", summary: "Done." }];
      const call = { actor, requestId: randomUUID(), transitions };
      return callTool("legacy", another.mcpUrl, "advance_item", call, headers);
    };
    const stranger = (await advance({ "mcp-session-id": await initialize(another.mcpUrl) })).json().result;
    expect(stranger?.structuredContent).toMatchObject({ results: [{ applied: false }] });
    const refresh = { actor, requestId: randomUUID(), refreshes: [{ itemId, fence }] };
    const kept = (await callTool("legacy", another.mcpUrl, "claim_item", refresh, session)).json().result;
    expect(kept?.structuredContent).toMatchObject({ refreshes: [{ outcome: "success" }] });
    const done = (await advance(session)).json().result;
    expect(done?.structuredContent).toMatchObject({ results: [{ applied: true, newRole: "terminal" }] });
  });
});

describe.each(ERAS)("a claim that waits, in the %s era", (era) => {
  it("takes nothing once its client has hung up", async () => {
    const tags = randomUUID();
    const { door, firstCaller } = await openDoor();
    const client = new AbortController();
    const args = claimArgs("impatient", tags, { waitSeconds: 50 });
    const waiting = callTool(era, door.mcpUrl, "claim_item", args, {}, client.signal);
    const { signal } = await firstCaller;
    client.abort();
    await expect(waiting).rejects.toThrow("aborted");
    await expect.poll(() => signal.aborted).toBe(true);
    await plant(tags);
    const other = claimed(await callTool(era, server.mcpUrl, "claim_item", claimArgs("other", tags)));
    expect(other.claims[0].outcome).toBe("success");
    await door.close();
    // A caller who left is nobody's fault.
    expect(door.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it("is answered as soon as something can be claimed", async () => {
    const tags = randomUUID();
    const { door, firstCaller } = await openDoor();
    const args = claimArgs(`patient ${era}`, tags, { waitSeconds: 50 });
    const waiting = callTool(era, door.mcpUrl, "claim_item", args);
    await firstCaller;
    await plant(tags);
    expect(claimed(await waiting).claims[0].outcome).toBe("success");
    await door.close();
  });
});

describe("stopping while claims wait", () => {
  it("answers them, long before their time is over", async () => {
    const stopping = await startTestServer({ database: "pglite" });
    const { engine, firstCaller } = observed(stopping.engine);
    const door = await serveEngine(engine);
    const args = claimArgs("patient", randomUUID(), { waitSeconds: 50 });
    const waiting = callTool("modern", door.mcpUrl, "claim_item", args);
    await firstCaller;
    await door.api.close(40_000);
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(claimed(answer).claims[0].outcome).not.toBe("success");
    await stopping.close();
  });
});
