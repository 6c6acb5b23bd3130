/** Items as MCP resources: read in both eras, listened to in the later one. */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { send } from "../../support/raw-mcp.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import { operationByName } from "../../../services/contract/registry.ts";
import { testCaller } from "../../support/engine.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const ABSENT = "muster://items/00000000-0000-4000-8000-000000000000";
const BASE = { "content-type": "application/json", accept: "application/json, text/event-stream" };

describe("items as resources", () => {
  let server: RealServer;
  let itemId: string;
  let uri: string;
  beforeAll(async () => {
    server = await startTestServer({ database: "pglite" });
    const made = (await call("manage_items", { operation: "create", items: [{ title: "shown" }] })) as {
      items: { id: string }[];
    };
    itemId = made.items[0]?.id ?? "";
    uri = `muster://items/${itemId}`;
  });
  afterAll(() => server?.close());

  async function call(name: string, input: object): Promise<unknown> {
    const operation = operationByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await server.engine.execute(name, parseInput(operation, input), testCaller());
  }

  function modern(method: string, params: Record<string, unknown>) {
    const headers = {
      ...BASE,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params["uri"] === "string" && { "mcp-name": params["uri"] }),
    };
    return {
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } }),
    };
  }

  it("are read in both eras, and what is not there is one error in both", async () => {
    const legacy = (target: string) => ({
      headers: BASE,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: target } }),
    });
    for (const ask of [legacy, (target: string) => modern("resources/read", { uri: target })]) {
      const found = (await send(server.mcpUrl, ask(uri))).json();
      expect(found.result?.["contents"]).toMatchObject([{ uri, mimeType: "application/json" }]);
      const absent = (await send(server.mcpUrl, ask(ABSENT))).json();
      const other = (await send(server.mcpUrl, ask("muster://items/nothing"))).json();
      expect(absent.error).toMatchObject({ code: -32_602 });
      expect(absent.error).toEqual(other.error);
    }
  });

  it("tell those who listen, and only of what they listen to; the stream ends with the server", async () => {
    const { headers, body } = modern("subscriptions/listen", {
      notifications: { resourceSubscriptions: [uri] },
    });
    const messages: { method?: string; params?: { uri?: string } }[] = [];
    const seen = Promise.withResolvers<void>();
    const acknowledged = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    request(server.mcpUrl, { method: "POST", headers, agent: false }, (incoming) => {
      incoming.setEncoding("utf8").on("data", (chunk: string) => {
        for (const line of chunk.split("\n")) {
          if (line.startsWith("data: "))
            messages.push(JSON.parse(line.slice(6)) as (typeof messages)[number]);
        }
        if (messages.length > 0) acknowledged.resolve();
        if (messages.length > 1) seen.resolve();
      });
      incoming.once("close", () => ended.resolve());
    }).end(body);
    await acknowledged.promise;
    await call("manage_items", { operation: "create", items: [{ title: "another" }] });
    await call("manage_items", { operation: "update", items: [{ itemId, title: "changed" }] });
    await seen.promise;
    expect(messages.slice(1)).toMatchObject([{ method: "notifications/resources/updated", params: { uri } }]);
    await server.api.close(5_000);
    await ended.promise;
  });

  it("are not listened to by whoever may not read them, nor too many at once", async () => {
    const own = await startTestServer({ database: "pglite" });
    try {
      for (const uris of [[ABSENT], Array.from({ length: 101 }, () => ABSENT)]) {
        const ask = modern("subscriptions/listen", { notifications: { resourceSubscriptions: uris } });
        expect((await send(own.mcpUrl, ask)).json().error).toMatchObject({ code: -32_602 });
      }
      expect(own.engine.events.size).toBe(0);
    } finally {
      await own.close();
    }
  });
});
