import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modern, send } from "../../support/raw-mcp.ts";
import { scriptedEngine } from "../../support/scripted-engine.ts";
import { serveEngine, type TestServer } from "../../support/server.ts";

const LIMIT = 64 * 1024;
const JSON_TYPE = { "content-type": "application/json" };
const engine = scriptedEngine(() => ({}));
let server: TestServer;

beforeAll(async () => {
  server = await serveEngine(engine, { config: { bodyLimitBytes: LIMIT } });
});
afterAll(() => server.close());

describe("the body of a request", () => {
  it("is refused past the limit, whether the length is declared or not", async () => {
    const body = Buffer.alloc(LIMIT + 1, " ");
    for (const headers of [{ "content-length": String(body.length) }, { "transfer-encoding": "chunked" }]) {
      const answer = await send(server.mcpUrl, { headers: { ...JSON_TYPE, ...headers }, body });
      expect(answer.status).toBe(413);
      expect(answer.json().error?.data).toEqual({ limit_bytes: LIMIT });
    }
  });

  it("of many times the limit still gets its answer", async () => {
    const answer = await send(server.mcpUrl, { headers: JSON_TYPE, body: Buffer.alloc(LIMIT * 40, "x") });
    expect(answer.status).toBe(413);
  });

  it("must be declared as JSON", async () => {
    const answer = await send(server.mcpUrl, { headers: { "content-type": "text/plain" }, body: "{}" });
    expect(answer.status).toBe(415);
    expect(answer.json().error?.message).toContain("application/json");
  });

  it.each(["", "{", "nonsense", "\u0000"])("that is not JSON (%j) is a parse error", async (body) => {
    const answer = await send(server.mcpUrl, { headers: JSON_TYPE, body });
    expect([answer.status, answer.json().error?.code]).toEqual([400, -32700]);
  });

  it.each(["null", "1", '"text"', "[]", "[1]", "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}'])(
    "that is JSON but no message (%s) is refused",
    async (body) => {
      const answer = await send(server.mcpUrl, {
        headers: { ...JSON_TYPE, accept: "application/json" },
        body,
      });
      expect(answer.status).toBe(400);
      expect(answer.json().error?.code).toBeLessThan(-32_000);
    },
  );
});

describe("Host and Origin", () => {
  it.each(["/mcp", "/", "/livez", "/readyz", "/api/v1/claims", "/nowhere"])(
    "are checked on %s",
    async (path) => {
      const method = path === "/mcp" ? "POST" : "GET";
      for (const headers of [
        { host: "evil.example" },
        { host: "localhost", origin: "http://evil.example" },
      ]) {
        const answer = await send(server.url + path, { method, headers: { ...JSON_TYPE, ...headers } });
        expect(answer.status).toBe(403);
        expect(answer.text).not.toContain("evil");
      }
    },
  );

  it("let a page of this machine through", async () => {
    const answer = await modern(
      server.mcpUrl,
      "tools/list",
      {},
      { host: "localhost", origin: "http://localhost:5173" },
    );
    expect(answer.status).toBe(200);
  });
});

describe("listening", () => {
  it("on a port that is taken fails instead of sharing it", async () => {
    const port = Number(new URL(server.url).port);
    await expect(serveEngine(engine, { config: { port } })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("methods and paths", () => {
  it.each(["GET", "DELETE", "PUT", "OPTIONS"])("%s /mcp is not allowed, and says what is", async (method) => {
    const answer = await send(server.mcpUrl, { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, "POST"]);
  });

  it("other paths answer problems: 405 with what is allowed, 404", async () => {
    const wrong = await send(`${server.url}/api/v1/claims`, { method: "DELETE" });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
    const nowhere = await send(`${server.url}/api/v2`, { method: "GET" });
    expect(nowhere.status).toBe(404);
    expect(nowhere.headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(nowhere.text)).toMatchObject({ status: 404, error: "route_not_found" });
  });

  it("what is no path or no method of ours is answered, not tripped over", async () => {
    expect((await send(server.url, { method: "TRACE" })).status).toBe(501);
    const ask = async (line: string): Promise<string> => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.end(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      return text.slice(9, 12);
    };
    expect(await ask("OPTIONS *")).toBe("404");
    expect(await ask("GET http://localhost/livez")).toBe("200");
    expect(await ask("GET mailto:x")).toBe("400");
    expect(await ask("GET //evil.example/livez")).toBe("404");
    expect(await ask("GET /%zz?%zz=%")).toBe("404");
  });

  it("more requests than may wait ahead of their answers end the connection", async () => {
    const forever = await serveEngine(scriptedEngine(() => new Promise(() => {})));
    const socket = connect(Number(new URL(forever.url).port), "127.0.0.1");
    const params = { name: "get_next_status", arguments: { itemId: "6b1f0a52-6a4b-4a7e-9d86-0a4f2f6a1c11" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.on("error", () => {});
    socket.resume();
    socket.write((head + body).repeat(200));
    await once(socket, "close");
    await forever.close();
  });
});
