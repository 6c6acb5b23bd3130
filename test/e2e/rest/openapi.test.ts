import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiDocument } from "../../../services/api/rest/openapi.ts";
import { ROUTES } from "../../../services/api/rest/routes.ts";
import { type RestClient, restClient } from "../../support/rest-client.ts";
import { scriptedEngine } from "../../support/scripted-engine.ts";
import { serveEngine, TEST_VERSION, type TestServer } from "../../support/server.ts";

let server: TestServer;
let rest: RestClient;

beforeAll(async () => {
  server = await serveEngine(scriptedEngine(() => ({})));
  rest = restClient(server);
});
afterAll(() => server.close());

describe("the OpenAPI document", () => {
  it("is one, as the standard has it", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openApiDocument(ROUTES)));
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it("is served as it is committed", async () => {
    const committed: unknown = JSON.parse(readFileSync("docs/api/openapi.json", "utf8"));
    expect((await rest("GET /openapi.json")).body).toEqual(committed);
  });

  it("names every operation once", () => {
    const { paths } = openApiDocument(ROUTES) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const ids = Object.values(paths).flatMap((one) =>
      Object.values(one).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("can be read on a page that loads nothing and runs nothing", async () => {
    const page = await rest("GET /docs");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    for (const { method, path } of ROUTES)
      expect(page.text).toContain(`${method} /api/v1${path.replaceAll("+}", "}")}`);
    expect(page.text).not.toMatch(/<script|<link|src=/);
  });
});

describe("what the server says about itself", () => {
  it("/info and /health", async () => {
    expect((await rest("GET /info")).body).toMatchObject({
      name: "muster",
      version: TEST_VERSION,
      apiVersion: "1.0",
    });
    expect((await rest("GET /health")).body).toMatchObject({ status: "ok" });
  });

  it("/.well-known/mcp-task-orchestrator.json says where its doors are", async () => {
    const answer = await fetch(`${server.url}/.well-known/mcp-task-orchestrator.json`);
    expect(await answer.json()).toMatchObject({ api: { base: "/api/v1" }, mcp: { path: "/mcp" } });
  });
});

describe("addresses", () => {
  it("answer another method with what they take, and what is not there with 404", async () => {
    const other = await rest("DELETE /items");
    expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
    for (const path of ["/nothing", "/items/a/b/c", "/items/%zz", "/resources/leases/", "/roots//config"])
      expect((await rest(`GET ${path}`)).body).toMatchObject({ status: 404, error: "route_not_found" });
  });

  it("are read with HEAD as with GET, without the body", async () => {
    const head = await rest("HEAD /info");
    expect([head.status, head.text]).toEqual([200, ""]);
  });
});
