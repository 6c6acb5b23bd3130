import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readGolden } from "../../support/golden.ts";
import { bridgeCommand } from "../../support/mcp-clients.ts";
import { INITIALIZE_PARAMS, legacy, modern, modernMessage } from "../../support/raw-mcp.ts";
import { scriptedEngine, type EngineCall } from "../../support/scripted-engine.ts";
import { serveEngine, type TestServer } from "../../support/server.ts";

const STATUS = {
  itemId: "6b1f0a52-6a4b-4a7e-9d86-0a4f2f6a1c11",
  currentRole: "queue",
  recommendation: "Ready",
};
const ARGS = { itemId: STATUS.itemId };

let script: (call: EngineCall) => Record<string, unknown> | Promise<Record<string, unknown>> = () => STATUS;
const engine = scriptedEngine((call) => script(call));
let one: TestServer;
let two: TestServer;
/** An address where nothing listens any more. */
let nowhere: string;

beforeAll(async () => {
  [one, two] = await Promise.all([serveEngine(engine), serveEngine(engine)]);
  const gone = await serveEngine(engine);
  nowhere = gone.url;
  await gone.close();
});
afterAll(() => Promise.all([one.close(), two.close()]));

/** A bridge process that is spoken to line by line. */
function startBridge(...urls: string[]) {
  const { command, args } = bridgeCommand(...urls);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let notes = "";
  child.stderr.on("data", (chunk) => (notes += String(chunk)));
  let nextId = 1;
  const write = (message: unknown): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`);
  return {
    notes: () => notes,
    notify: (method: string, params: unknown = {}) => write({ method, params }),
    /** Sends a request that nobody waits for; returns its id. */
    send(method: string, params: unknown): number {
      write({ id: nextId, method, params });
      return nextId++;
    },
    async ask(
      method: string,
      params: unknown = {},
    ): Promise<{ result?: Record<string, unknown>; error?: { code: number } }> {
      this.send(method, params);
      const { value } = await lines.next();
      return JSON.parse(String(value)) as { result?: Record<string, unknown> };
    },
    async end(): Promise<number | null> {
      child.stdin.end();
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    },
  };
}

describe("the stdio bridge", () => {
  it("says byte for byte what the HTTP door says, which is what is recorded [P-34]", async () => {
    const bridge = startBridge(one.url);
    const overHttp = async (method: string, params: unknown) =>
      JSON.stringify((await legacy(one.mcpUrl, method, params)).json().result);
    expect(JSON.stringify((await bridge.ask("initialize", INITIALIZE_PARAMS)).result)).toBe(
      await overHttp("initialize", INITIALIZE_PARAMS),
    );
    bridge.notify("notifications/initialized");
    const listed = JSON.stringify((await bridge.ask("tools/list")).result);
    expect(listed).toBe(await overHttp("tools/list", {}));
    expect(listed).toBe(JSON.stringify((readGolden("tools-list-all") as { result: unknown }).result));
    expect(await bridge.end()).toBe(0);
    expect(bridge.notes()).toBe("");
  });

  it("says the same in the 2026 era, too, but for what cannot be listened to through it [P-34]", async () => {
    const bridge = startBridge(one.url);
    for (const method of ["server/discover", "tools/list"]) {
      const { params } = JSON.parse(modernMessage(method).body) as { params: unknown };
      const overStdio = (await bridge.ask(method, params)).result;
      const overHttp = JSON.stringify((await modern(one.mcpUrl, method)).json().result);
      expect(JSON.stringify(overStdio)).toBe(
        overHttp.replace('"resources":{"subscribe":true}', '"resources":{}'),
      );
    }
    expect(await bridge.end()).toBe(0);
  });

  it("keeps its session and the client's name over replicas, and asks the next address when one is away", async () => {
    const third = await serveEngine(engine);
    const bridge = startBridge(nowhere, third.url, two.url);
    await bridge.ask("initialize", INITIALIZE_PARAMS);
    const call = { name: "get_next_status", arguments: ARGS };
    expect((await bridge.ask("tools/call", call)).result).toMatchObject({ structuredContent: STATUS });
    const first = engine.calls.at(-1)?.caller;
    await third.close();
    expect((await bridge.ask("tools/call", call)).result).toMatchObject({ structuredContent: STATUS });
    const second = engine.calls.at(-1)?.caller;
    expect(first?.session).toMatch(/^stdio-[0-9a-f-]{36}$/);
    expect(second?.session).toBe(first?.session);
    expect(second?.client).toEqual(INITIALIZE_PARAMS.clientInfo);
    expect(await bridge.end()).toBe(0);
  });

  it("passes the toolset of its address on", async () => {
    const bridge = startBridge(`${one.url}?toolset=worker`);
    await bridge.ask("initialize", INITIALIZE_PARAMS);
    const { tools } = (await bridge.ask("tools/list")).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).not.toContain("manage_items");
    expect((await bridge.ask("tools/call", { name: "manage_items", arguments: {} })).error?.code).toBe(
      -32602,
    );
    expect((await bridge.ask("tools/call", { name: "no such tool", arguments: {} })).error?.code).toBe(
      -32602,
    );
    await bridge.end();
  });

  it("lists its tools and answers with the next step while no Muster runs", async () => {
    const bridge = startBridge(nowhere);
    await bridge.ask("initialize", INITIALIZE_PARAMS);
    const { tools } = (await bridge.ask("tools/list")).result as { tools: unknown[] };
    expect(tools.length).toBeGreaterThan(5);
    const answer = await bridge.ask("tools/call", { name: "get_next_status", arguments: ARGS });
    expect(answer.result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "unavailable" } },
    });
    expect(bridge.notes()).toContain("No Muster answers at");
    expect(await bridge.end()).toBe(0);
  });

  it("a cancelled call, and the end of its input, abort the wait on the server", async () => {
    for (const stop of ["cancel", "end"] as const) {
      const arrived = Promise.withResolvers<EngineCall>();
      script = (call) => {
        arrived.resolve(call);
        return new Promise(() => {});
      };
      const bridge = startBridge(one.url);
      await bridge.ask("initialize", INITIALIZE_PARAMS);
      const requestId = bridge.send("tools/call", { name: "get_next_status", arguments: ARGS });
      const { signal } = (await arrived.promise).caller;
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      if (stop === "cancel") bridge.notify("notifications/cancelled", { requestId });
      else await bridge.end();
      await aborted;
      if (stop === "cancel") await bridge.end();
    }
    script = () => STATUS;
  });
});
