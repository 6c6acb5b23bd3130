import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, initialize, legacy, INITIALIZE_PARAMS } from "../../support/raw-mcp.ts";
import { scriptedEngine } from "../../support/scripted-engine.ts";
import { serveEngine, type TestServer } from "../../support/server.ts";

const ARGS = { itemId: "6b1f0a52-6a4b-4a7e-9d86-0a4f2f6a1c11" };
const engine = scriptedEngine(() => ({ itemId: ARGS.itemId, currentRole: "queue", recommendation: "Ready" }));
let one: TestServer;
let two: TestServer;
let stranger: TestServer;

beforeAll(async () => {
  [one, two, stranger] = await Promise.all([
    serveEngine(engine),
    serveEngine(engine),
    serveEngine(engine, { config: { secretKey: "another fleet" } }),
  ]);
});
afterAll(() => Promise.all([one, two, stranger].map((server) => server.close())));

async function sessionSeen(server: TestServer, era: "legacy" | "modern", headers: Record<string, string>) {
  const answer = await callTool(era, server.mcpUrl, "get_next_status", ARGS, headers);
  expect(answer.status).toBe(200);
  return engine.calls.at(-1)?.caller;
}

describe("a session of the 2025 era", () => {
  it("goes on at another replica with the same worker and client label [F-24]", async () => {
    const header = { "mcp-session-id": await initialize(one.mcpUrl) };
    const first = await sessionSeen(one, "legacy", header);
    const second = await sessionSeen(two, "legacy", header);
    expect(first?.session).toMatch(/^mcp-/);
    expect(second?.session).toBe(first?.session);
    expect(second?.client).toEqual(INITIALIZE_PARAMS.clientInfo);
  });

  it("is a new one for every initialize, also for one that still carries the old", async () => {
    const first = await initialize(one.mcpUrl);
    const again = await initialize(one.mcpUrl, { "mcp-session-id": first });
    expect(again).not.toBe(first);
  });

  it("is not needed: without one the caller has no session", async () => {
    expect((await sessionSeen(one, "legacy", {}))?.session).toBeNull();
  });

  it("that was tampered with or signed elsewhere answers 404, and nothing runs", async () => {
    const header = await initialize(one.mcpUrl);
    const before = engine.calls.length;
    for (const [server, id] of [
      [one, `${header.slice(0, -6)}AAAAAA`],
      [one, "made-up"],
      [stranger, header],
    ] as const) {
      const answer = await callTool("legacy", server.mcpUrl, "get_next_status", ARGS, {
        "mcp-session-id": id,
      });
      expect([answer.status, answer.json().error?.code]).toEqual([404, -32001]);
    }
    expect(engine.calls.length).toBe(before);
  });

  it("that is refused is replaced when the v1 client initializes again", async () => {
    const url = new URL(one.mcpUrl);
    const stale = new Client({ name: "v1", version: "1" });
    await stale.connect(new StreamableHTTPClientTransport(url, { sessionId: "stale" }));
    const call = { name: "get_next_status", arguments: ARGS };
    // A transport with a session resumes it instead of initializing, so the first call meets the refusal.
    await expect(stale.callTool(call)).rejects.toSatisfy(
      (error) => error instanceof StreamableHTTPError && error.code === 404,
    );
    await stale.close();
    const fresh = new Client({ name: "v1", version: "1" });
    await fresh.connect(new StreamableHTTPClientTransport(url));
    expect((await fresh.callTool(call)).isError).toBeUndefined();
    expect(engine.calls.at(-1)?.caller.session).toMatch(/^mcp-/);
    await fresh.close();
  });
});

describe("a request of the 2026 era", () => {
  it("has no session, whatever Mcp-Session-Id says", async () => {
    const header = { "mcp-session-id": await initialize(one.mcpUrl) };
    expect((await sessionSeen(one, "modern", header))?.session).toBeNull();
    expect((await sessionSeen(one, "modern", { "mcp-session-id": "made-up" }))?.session).toBeNull();
  });
});

describe("Muster-Session", () => {
  it.each(["legacy", "modern"] as const)(
    "names the session of the client spoken for, in the %s era",
    async (era) => {
      expect((await sessionSeen(one, era, { "muster-session": "stdio-42" }))?.session).toBe("stdio-42");
      const bad = await callTool(era, one.mcpUrl, "get_next_status", ARGS, {
        "muster-session": "not a name",
      });
      expect(bad.status).toBe(400);
    },
  );
});

describe("ping", () => {
  it("works with and without a session", async () => {
    expect((await legacy(one.mcpUrl, "ping")).status).toBe(200);
  });
});
