import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fault } from "../../../services/contract/errors.ts";
import { send } from "../../support/raw-mcp.ts";
import { scriptedEngine, type EngineCall } from "../../support/scripted-engine.ts";
import { serveEngine, TEST_VERSION, type TestServer } from "../../support/server.ts";

let script: (call: EngineCall) => Record<string, unknown>;
let redisAway = false;
let countsAway = false;
const engine = scriptedEngine((call) => script(call));
let server: TestServer;

beforeAll(async () => {
  server = await serveEngine(engine, {
    checks: {
      postgres: () => Promise.resolve(),
      redis: () => (redisAway ? Promise.reject(new Error("redis://:secret@host")) : Promise.resolve()),
    },
    about: {
      data: "<b>data</b>",
      counts: () => (countsAway ? Promise.reject(new Error("away")) : Promise.resolve({ items: 12 })),
    },
  });
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  send(server.url + path, { method: "GET", headers });

describe("GET /", () => {
  it("is a page that loads nothing and runs nothing", async () => {
    const page = await get("/", { accept: "text/html" });
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; /,
    );
    expect(page.text).toContain(`Muster ${TEST_VERSION}`);
    expect(page.text).toContain(server.mcpUrl);
    expect(page.text).toContain("12");
    expect(page.text).toContain("&lt;b&gt;data");
    expect(page.text).not.toMatch(/<script|<link|src=|<b>/);
  });

  it("is JSON for a program", async () => {
    const facts = JSON.parse((await get("/", { accept: "application/json" })).text) as Record<
      string,
      unknown
    >;
    expect(facts).toMatchObject({
      name: "muster",
      version: TEST_VERSION,
      counts: { items: 12 },
      mcpJson: { mcpServers: { muster: { type: "http", url: server.mcpUrl } } },
    });
  });

  it("still answers while the database is away", async () => {
    countsAway = true;
    const page = await get("/");
    countsAway = false;
    expect([page.status, page.text.includes("The database is away")]).toEqual([200, true]);
  });
});

describe("probes", () => {
  it("/livez says that the process runs", async () => {
    expect((await get("/livez")).status).toBe(200);
  });

  it("/readyz says which dependency is away", async () => {
    expect((await get("/readyz")).status).toBe(200);
    redisAway = true;
    const answer = await get("/readyz");
    redisAway = false;
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: "unavailable",
      message: "Not ready: redis (unavailable).",
      ready: false,
      checks: { postgres: { ok: true }, redis: { ok: false } },
    });
    expect(answer.text).not.toContain("secret");
  });

  it("answer HEAD without a body", async () => {
    const head = await send(`${server.url}/livez`, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
  });
});

describe("reads", () => {
  const EMPTY = { total: 0, hasMore: false, limit: 10, offset: 0 };

  it("/api/v1/claims and /api/v1/agents run the contract's operations", async () => {
    script = ({ name }) => (name === "list_claims" ? { claims: [], ...EMPTY } : { agents: [], ...EMPTY });
    expect(JSON.parse((await get("/api/v1/claims?limit=10&lapsed=true")).text)).toEqual({
      claims: [],
      ...EMPTY,
    });
    expect(engine.calls.at(-1)).toMatchObject({
      name: "list_claims",
      input: { limit: 10, lapsed: true, offset: 0 },
    });
    expect((await get("/api/v1/agents")).status).toBe(200);
    expect(engine.calls.at(-1)).toMatchObject({ name: "list_agents" });
  });

  it.each(["limit=0", "limit=101", "limit=ten", "nonsense=1", "offset=-1"])("refuse %s", async (query) => {
    const before = engine.calls.length;
    const answer = await get(`/api/v1/claims?${query}`);
    expect([answer.status, answer.headers["content-type"]]).toEqual([400, "application/problem+json"]);
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 400,
      error: "validation_error",
      code: "VALIDATION_ERROR",
    });
    expect(answer.text).toContain(query.split("=")[0]);
    expect(engine.calls.length).toBe(before);
  });

  it("turn errors into problems, and hide what is unexpected", async () => {
    script = () => {
      throw fault("unavailable", "Redis is away.", { retryAfterMs: 1_200 });
    };
    const away = await get("/api/v1/claims");
    expect([away.status, away.headers["retry-after"]]).toEqual([503, "2"]);
    expect(JSON.parse(away.text)).toMatchObject({
      error: "unavailable",
      kind: "transient",
      retryAfterMs: 1_200,
    });
    script = () => {
      throw new Error("select * from secrets");
    };
    const broken = await get("/api/v1/claims");
    expect(broken.status).toBe(500);
    expect(broken.text).not.toContain("secrets");
    expect(JSON.parse(broken.text)).toMatchObject({
      error: "INTERNAL_ERROR",
      requestId: broken.headers["x-request-id"],
    });
  });
});
