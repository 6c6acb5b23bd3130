import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fault } from "../../../services/contract/errors.ts";
import { callTool, initialize, legacy, modern, modernMessage, send } from "../../support/raw-mcp.ts";
import { scriptedEngine, type EngineCall } from "../../support/scripted-engine.ts";
import { serveEngine, type TestServer } from "../../support/server.ts";

const ERAS = ["legacy", "modern"] as const;
const STATUS = {
  itemId: "6b1f0a52-6a4b-4a7e-9d86-0a4f2f6a1c11",
  currentRole: "queue",
  recommendation: "Ready",
};
let script: (call: EngineCall) => Record<string, unknown> | Promise<Record<string, unknown>>;
const engine = scriptedEngine((call) => script(call));
let server: TestServer;
let viaSdk: TestServer;

beforeAll(async () => {
  server = await serveEngine(engine);
  viaSdk = await serveEngine(engine, { config: { fastLane: false } });
});
afterAll(async () => {
  await server.close();
  await viaSdk.close();
});

const ask = (
  era: "legacy" | "modern",
  args: Record<string, unknown> = { itemId: STATUS.itemId },
  url = server.mcpUrl,
) => callTool(era, url, "get_next_status", args);

describe.each(ERAS)("a tool call of the %s era", (era) => {
  it("carries the answer as structured content beside a short text", async () => {
    script = () => STATUS;
    const { result } = (await ask(era)).json();
    expect(result?.structuredContent).toEqual(STATUS);
    expect(result?.content?.[0]?.text).toContain(STATUS.itemId);
    expect(result?.isError).toBeUndefined();
  });

  it("carries the answer once, as JSON text, where the URL asks for text", async () => {
    script = () => STATUS;
    const { result } = (await ask(era, undefined, `${server.mcpUrl}?results=text`)).json();
    expect(JSON.parse(result?.content?.[0]?.text ?? "")).toEqual(STATUS);
    expect(result).not.toHaveProperty("structuredContent");
  });

  it("shows a refusal with its code, cause and next step", async () => {
    script = () => {
      throw fault("item_held", "The item is held.", { retryAfterMs: 1_500, details: { until: "noon" } });
    };
    const { result } = (await ask(era)).json();
    expect(result?.isError).toBe(true);
    expect(result?.content?.[0]?.text).toMatch(/^item_held .*The item is held\.\nNext: .* 1500 ms/);
    expect(result?.structuredContent).toEqual({
      error: expect.objectContaining({
        code: "item_held",
        kind: "transient",
        retryAfterMs: 1_500,
        details: { until: "noon" },
      }) as unknown,
    });
  });

  it("never shows the text of an unexpected error, only the request to look for in the log", async () => {
    script = () => {
      throw new Error("password=hunter2 at /srv/secret");
    };
    const answer = await ask(era);
    const { result } = answer.json();
    const requestId = answer.headers["x-request-id"];
    expect(answer.text).not.toMatch(/hunter2|secret/);
    expect(result?.structuredContent).toEqual({
      error: expect.objectContaining({ code: "INTERNAL_ERROR", details: { requestId } }) as unknown,
    });
    expect(server.logLines.some((line) => line.includes("hunter2") && line.includes(String(requestId)))).toBe(
      true,
    );
  });

  it("names an argument that was not declared, and the engine is not asked [P-31]", async () => {
    script = () => STATUS;
    const before = engine.calls.length;
    const { result } = (await ask(era, { itemId: STATUS.itemId, itemid: "typo" })).json();
    expect(result?.isError).toBe(true);
    expect(result?.structuredContent).toEqual({
      error: expect.objectContaining({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining("itemid") as string,
      }) as unknown,
    });
    expect(engine.calls.length).toBe(before);
  });

  it("tells the engine what the client calls itself", async () => {
    script = () => STATUS;
    const headers = era === "legacy" ? { "mcp-session-id": await initialize(server.mcpUrl) } : {};
    await callTool(era, server.mcpUrl, "get_next_status", { itemId: STATUS.itemId }, headers);
    expect(engine.calls.at(-1)?.caller.client).toEqual({ name: "raw", version: "1.0" });
  });

  it("answers an unknown tool with invalid params, also for a tool of another toolset", async () => {
    const unknown = await callTool(era, server.mcpUrl, "drop_database", {});
    expect(unknown.json().error).toMatchObject({ code: -32602, message: "Unknown tool: drop_database" });
    const elsewhere = await callTool(era, `${server.mcpUrl}?toolset=worker`, "manage_items", {});
    expect(elsewhere.json().error?.code).toBe(-32602);
  });

  it("serves a client that only accepts JSON", async () => {
    script = () => STATUS;
    const answer = await callTool(
      era,
      server.mcpUrl,
      "get_next_status",
      { itemId: STATUS.itemId },
      { accept: "application/json" },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  });
});

describe("the fast lane", () => {
  it("answers exactly as the SDK does", async () => {
    for (const make of [
      () => STATUS,
      () => {
        throw fault("item_held", "Held.");
      },
    ]) {
      script = make;
      const [fast, sdk] = await Promise.all([ask("modern"), ask("modern", undefined, viaSdk.mcpUrl)]);
      expect(fast.json()).toEqual(sdk.json());
      expect(fast.status).toBe(sdk.status);
      expect(fast.headers["content-type"]).toBe(sdk.headers["content-type"]);
    }
  });

  it("leaves what is unusual to the SDK, which refuses it", async () => {
    const name = "get_next_status";
    const args = { itemId: STATUS.itemId };
    const wrongName = await callTool("modern", server.mcpUrl, name, args, { "mcp-name": "claim_item" });
    expect([wrongName.status, wrongName.json().error?.code]).toEqual([400, -32020]);
    const noEnvelope = await modern(server.mcpUrl, "tools/call", { name, arguments: args, _meta: {} });
    expect([noEnvelope.status, noEnvelope.json().error?.code]).toEqual([400, -32602]);
  });
});

describe("arguments nested beyond reason", () => {
  it.each(ERAS)("are refused like any other in the %s era", async (era) => {
    const params = { name: "get_next_status", arguments: { itemId: "@" } };
    const message =
      era === "modern"
        ? modernMessage("tools/call", params)
        : {
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
          };
    const depth = 100_000;
    const nested = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const answer = await send(server.mcpUrl, { ...message, body: message.body.replace('"@"', nested) });
    expect(answer.json().result?.structuredContent).toMatchObject({ error: { code: "VALIDATION_ERROR" } });
  });
});

describe("a client that listens for changes", () => {
  it("is told at once that there are none to come, and holds no stream open", async () => {
    const answer = await modern(server.mcpUrl, "subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    expect(answer.text).toContain("notifications/subscriptions/acknowledged");
    expect(answer.text).toContain('"resultType":"complete"');
  });
});

describe("an unknown method", () => {
  it("is -32601 in both eras, with HTTP 404 in the newer one", async () => {
    const old = await legacy(server.mcpUrl, "items/teleport");
    expect([old.status, old.json().error?.code]).toEqual([200, -32601]);
    const current = await modern(server.mcpUrl, "items/teleport");
    expect([current.status, current.json().error?.code]).toEqual([404, -32601]);
  });
});

describe("the URL's own parameters", () => {
  it.each(["toolset=everything", "results=xml"])("%s is refused with the choices", async (query) => {
    const answer = await modern(`${server.mcpUrl}?${query}`, "tools/list");
    expect(answer.status).toBe(400);
    expect(answer.json().error?.message).toMatch(/Use /);
  });
});
