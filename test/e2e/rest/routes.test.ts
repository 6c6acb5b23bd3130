/** What is true of every row of the route table. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Capability } from "../../../services/contract/operation.ts";
import type { Route } from "../../../services/api/rest/route.ts";
import { ROUTES } from "../../../services/api/rest/routes.ts";
import { bearer, startGuardedServer, type GuardedServer } from "../../support/guarded-server.ts";
import { type RestClient, type RestReply, restClient } from "../../support/rest-client.ts";

let server: GuardedServer;
let rest: RestClient;
const tokens = new Map<Capability, string>();

beforeAll(async () => {
  server = await startGuardedServer({ mode: "token" });
  rest = restClient(server);
  for (const capability of ["admin", "read", "write-items"] as const) {
    const minted = await server.token({ name: capability, capabilities: [capability] });
    tokens.set(capability, minted.token);
  }
});
afterAll(() => server.close());

const as = (capability: Capability) => bearer(tokens.get(capability) ?? "");

/** The address of a row, with something in the place of each parameter. */
function addressOf({ method, path }: Route): string {
  return `${method} ${path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => (/id$/i.test(name) ? randomUUID() : "some"))}`;
}

/** A body that is read; whether it makes sense is not what these tests are about. */
function bodyFor({ path, bodyRule }: Route): string {
  if (bodyRule?.kind === "text") return "text";
  return path.includes("/notes/") ? '{"role":"work","body":"x"}' : "{}";
}

/** As the row asks for it, but for what the test is about. */
function send(
  row: Route,
  more: { query?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RestReply> {
  const { query = "", headers = {}, body } = more;
  const sent = body ?? (row.bodyRule === undefined ? undefined : bodyFor(row));
  const [type = "text/plain"] = row.bodyRule?.mediaTypes ?? [];
  return rest(addressOf(row) + query, {
    ...(sent === undefined ? {} : { body: sent, type }),
    headers: { ...(row.ifMatch === "required" ? { "if-match": "*" } : {}), ...as("admin"), ...headers },
  });
}

const named = (rows: readonly Route[]): [string, Route][] =>
  rows.map((row) => [`${row.method} ${row.path}`, row]);

describe.each(named(ROUTES))("%s", (_, row) => {
  it("asks who calls, in a way that clients of either kind can read", async () => {
    const answer = await rest(addressOf(row));
    expect([answer.status, answer.body.error]).toEqual([401, "unauthenticated"]);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer /);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
  });

  it("refuses a credential that may do something else, and names what is missing", async () => {
    const other = row.capability === "read" ? "write-items" : "read";
    const answer = await send(row, { headers: as(other) });
    expect(answer.body).toMatchObject({
      status: 403,
      error: "insufficient_scope",
      details: { required: [`muster:${row.capability}`] },
    });
  });

  it("refuses a parameter that it does not have", async () => {
    const answer = await send(row, { query: "?colour=red" });
    expect([answer.status, answer.body.error]).toEqual([400, "validation_error"]);
    expect(answer.body.message).toContain("colour");
  });
});

describe.each(named(ROUTES.filter((row) => row.idempotent === true)))("%s", (_, row) => {
  it("refuses an Idempotency-Key that would protect nothing", async () => {
    const answer = await send(row, { headers: { "idempotency-key": "again" } });
    expect([answer.status, answer.body.error]).toEqual([400, "validation_error"]);
    expect(answer.body.message).toContain("Idempotency-Key");
  });
});

describe.each(named(ROUTES.filter((row) => row.bodyRule !== undefined)))("%s", (_, row) => {
  it("refuses another media type, and a body that is too large", async () => {
    const typed = await send(row, { headers: { "content-type": "text/csv" } });
    expect([typed.status, typed.body.error]).toEqual([415, "unsupported_media_type"]);
    const large = await send(row, { body: "x".repeat((row.bodyRule?.limitBytes ?? 0) + 1) });
    expect([large.status, large.body.error]).toEqual([413, "payload_too_large"]);
  });
});

describe.each(named(ROUTES.filter((row) => row.bodyRule?.kind === "json")))("%s", (_, row) => {
  it("refuses a body that is no JSON, and one with a field that it does not have", async () => {
    const broken = await send(row, { body: "{" });
    expect([broken.status, broken.body.error]).toEqual([400, "bad_request"]);
    const unknown = await send(row, { body: '{"colour":"red"}' });
    expect(unknown.status).toBe(400);
    expect(unknown.body.message).toContain("colour");
  });
});

describe.each(named(ROUTES.filter((row) => row.ifMatch !== undefined)))("%s", (_, row) => {
  it("refuses an If-Match that is no ETag, and none where it has to have one", async () => {
    const odd = await send(row, { headers: { "if-match": "v1" } });
    expect([odd.status, odd.body.error]).toEqual([400, "bad_request"]);
    if (row.ifMatch !== "required") return;
    const none = await rest(addressOf(row), { body: "{}", headers: as("admin") });
    expect([none.status, none.body.error]).toEqual([428, "precondition_required"]);
  });
});

describe.each(named(ROUTES.filter((row) => /\{(id|rootId)\}/.test(row.path) && row.bodyRule === undefined)))(
  "%s",
  (_, row) => {
    it("answers 404 for what never existed", async () => {
      const answer = await send(row);
      expect([answer.status, answer.body.error]).toEqual([404, "not_found"]);
    });
  },
);
