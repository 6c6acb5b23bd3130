import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimItem } from "../../../services/contract/operations/claim-item.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import { testCaller } from "../../support/engine.ts";
import { type RestClient, restClient } from "../../support/rest-client.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";

let server: RealServer;
let rest: RestClient;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  rest = restClient(server);
});
afterAll(() => server.close());

async function make(fields: Record<string, unknown> = {}): Promise<{ id: string; etag: string }> {
  const made = await rest("POST /items", { body: { title: "An item", ...fields } });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return { id: made.body.id, etag: made.headers.get("etag") ?? "" };
}

const GONE = randomUUID();

describe("POST /items", () => {
  it("makes an item and answers it with its address and its ETag", async () => {
    const made = await rest("POST /items", {
      body: { title: "New", tags: ["a", "b"], properties: { deep: { x: 1 } }, complexity: 3 },
    });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/api/v1/items/${made.body.id}`);
    expect(made.headers.get("etag")).toBe(`"${made.body.etag}"`);
    expect(made.body).toMatchObject({
      title: "New",
      role: "queue",
      priority: "medium",
      tags: ["a", "b"],
      properties: { deep: { x: 1 } },
      depth: 0,
      isClaimed: false,
      requiresVerification: false,
    });
    expect((await rest(`GET /items/${made.body.id}`)).body).toEqual(made.body);
  });

  it("attributes it to the credential, and drops an actor that the body names", async () => {
    const made = await rest("POST /items", {
      body: { title: "Mine", actor: { id: "somebody-else", kind: "user" } },
    });
    expect(made.status).toBe(201);
    const rows = server.database.db.selectFrom("items").select("created_by").where("id", "=", made.body.id);
    expect(await rows.execute()).toEqual([{ created_by: "api:local" }]);
  });

  it("repeats its answer for a key that was used, and refuses the key for another item", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const first = await rest("POST /items", { body: { title: "Once" }, headers });
    const again = await rest("POST /items", { body: { title: "Once" }, headers });
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const other = await rest("POST /items", { body: { title: "Another" }, headers });
    expect([other.status, other.body.error]).toEqual([422, "idempotency_mismatch"]);
    const malformed = await rest("POST /items", {
      body: { title: "Once" },
      headers: { "idempotency-key": "once" },
    });
    expect([malformed.status, malformed.body.error]).toEqual([400, "validation_error"]);
  });

  it.each([
    ["no title", { summary: "x" }, 400, "validation_error"],
    ["an unknown field", { title: "x", titel: "y" }, 400, "validation_error"],
    ["a role", { title: "x", role: "work" }, 400, "validation_error"],
    ["a bad tag", { title: "x", tags: ["Not A Tag"] }, 400, "validation_error"],
    ["a parent that does not exist", { title: "x", parentId: GONE }, 404, "not_found"],
    ["a list", [], 400, "validation_error"],
    ["a NUL character", { title: "a\u0000b" }, 400, "validation_error"],
  ])("refuses %s", async (_, body, status, error) => {
    const answer = await rest("POST /items", { body });
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({ status, detail: answer.body.message });
  });

  it("refuses what is no JSON, what says it is none, and what is too large", async () => {
    const broken = await rest("POST /items", { body: '{"title":' });
    expect([broken.status, broken.body.error]).toEqual([400, "bad_request"]);
    const typed = await rest("POST /items", { body: "title: x", type: "application/yaml" });
    expect([typed.status, typed.body.error]).toEqual([415, "unsupported_media_type"]);
    const large = await rest("POST /items", { body: { title: "x".repeat(1_100_000) } });
    expect([large.status, large.body.error]).toEqual([413, "payload_too_large"]);
  });
});

describe("GET /items/{id}", () => {
  it("answers 304 to who knows it already, until it changes or moves", async () => {
    const { id, etag } = await make();
    const known = { headers: { "if-none-match": etag } };
    expect(await rest(`GET /items/${id}`, known)).toMatchObject({ status: 304, text: "" });
    await rest(`POST /items/${id}/advance`, { body: { trigger: "start" } });
    const moved = await rest(`GET /items/${id}`, known);
    expect([moved.status, moved.body.role]).toEqual([200, "work"]);
  });

  it("brings notes, children and dependencies along when asked", async () => {
    const { id } = await make();
    const child = await make({ parentId: id, title: "Child" });
    const before = await make({ title: "Before" });
    await rest(`PUT /items/${id}/notes/spec`, { body: { role: "queue", body: "What to do" } });
    await rest("POST /dependencies", { body: { fromItemId: before.id, toItemId: id } });
    const { body } = await rest(`GET /items/${id}?include=notes,children,deps`);
    expect(body.notes).toMatchObject([{ key: "spec", body: "What to do" }]);
    expect(body.children).toMatchObject([{ id: child.id }]);
    expect(body.dependencies).toMatchObject({
      blocks: [],
      blockedBy: [{ fromItemId: before.id }],
      related: [],
    });
    const bad = await rest(`GET /items/${id}?include=everything`);
    expect([bad.status, bad.body.error]).toEqual([400, "validation_error"]);
  });

  it("takes a prefix of the id, and refuses what names nothing or too much", async () => {
    const { id } = await make();
    expect((await rest(`GET /items/${id.replaceAll("-", "").slice(0, 12)}`)).body.id).toBe(id);
    expect((await rest(`GET /items/${GONE}`)).body).toMatchObject({ status: 404, error: "not_found" });
    expect((await rest("GET /items/zzz")).body).toMatchObject({ status: 400, error: "validation_error" });
  });
});

describe("PATCH /items/{id}", () => {
  const patch = (id: string, etag: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
    rest(`PATCH /items/${id}`, {
      body,
      type: "application/merge-patch+json",
      headers: { ...(etag === undefined ? {} : { "if-match": etag }), ...headers },
    });

  it("changes what it names, clears with null, and merges properties at every depth", async () => {
    const { id, etag } = await make({
      description: "long",
      tags: ["old"],
      properties: { keep: 1, drop: 2, deep: { keep: 1, drop: 2 } },
    });
    const changed = await patch(id, etag, {
      title: "Renamed",
      description: null,
      tags: "new,newer",
      properties: { drop: null, deep: { drop: null, add: 3 } },
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ title: "Renamed", tags: ["new", "newer"], version: 2 });
    expect(changed.body.description).toBeUndefined();
    expect(changed.body.properties).toEqual({ keep: 1, deep: { keep: 1, add: 3 } });
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  it("refuses an ETag that is old with 412, and none at all with 428 [B86]", async () => {
    const { id, etag } = await make();
    await patch(id, etag, { title: "First" });
    expect((await patch(id, etag, { title: "Second" })).body).toMatchObject({
      status: 412,
      error: "etag_mismatch",
    });
    expect((await patch(id, '"never-given"', { title: "Second" })).status).toBe(412);
    expect((await patch(id, undefined, { title: "Second" })).body).toMatchObject({
      status: 428,
      error: "precondition_required",
    });
    expect((await patch(id, "*", { title: "Third" })).body.title).toBe("Third");
    expect((await patch(id, "no quotes", { title: "Fourth" })).body).toMatchObject({
      status: 400,
      error: "bad_request",
    });
  });

  it("lets one of two win that were sent with the same ETag at once [B86]", async () => {
    const { id, etag } = await make();
    const both = await Promise.all(["a", "b"].map((title) => patch(id, etag, { title })));
    const lost = both.map((one) => one.status).toSorted((a, b) => a - b)[1];
    expect(both.filter((one) => one.status === 200)).toHaveLength(1);
    expect([409, 412]).toContain(lost);
  });

  it("repeats the answer of a key although its ETag is old by then", async () => {
    const { id, etag } = await make();
    const key = { "idempotency-key": randomUUID() };
    const first = await patch(id, etag, { title: "Once" }, key);
    const again = await patch(id, etag, { title: "Once" }, key);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(again.body.version).toBe(first.body.version);
    const late = await patch(id, etag, { title: "Late" }, { "idempotency-key": randomUUID() });
    expect([late.status, late.body.error]).toEqual([412, "etag_mismatch"]);
  });

  it.each([
    ["role", { role: "terminal" }, "field_not_patchable"],
    ["an unknown field", { colour: "red" }, "field_not_patchable"],
    ["a priority that is none", { priority: "urgent" }, "validation_error"],
    ["nothing at all", {}, "validation_error"],
  ])("refuses %s", async (_, body, error) => {
    const { id, etag } = await make();
    expect((await patch(id, etag, body)).body).toMatchObject({ status: 400, error });
  });

  it("refuses another media type, and an item that does not exist", async () => {
    const { id, etag } = await make();
    const text = await rest(`PATCH /items/${id}`, {
      body: "x",
      type: "text/plain",
      headers: { "if-match": etag },
    });
    expect(text.status).toBe(415);
    expect((await patch(GONE, etag, { title: "x" })).status).toBe(404);
    const plain = await rest(`PATCH /items/${id}`, { body: { title: "x" }, headers: { "if-match": etag } });
    expect(plain.status).toBe(200);
  });
});

describe("DELETE /items/{id}", () => {
  it("refuses an item with children, and takes both when told to [B86]", async () => {
    const { id } = await make();
    const child = await make({ parentId: id });
    expect((await rest(`DELETE /items/${id}`)).body).toMatchObject({ status: 409, error: "has_children" });
    const gone = await rest(`DELETE /items/${id}?recursive=true`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await rest(`GET /items/${child.id}`)).status).toBe(404);
    expect((await rest(`DELETE /items/${id}`)).status).toBe(404);
  });

  it("repeats its answer for a key that was used", async () => {
    const { id } = await make();
    const headers = { "idempotency-key": randomUUID() };
    expect((await rest(`DELETE /items/${id}`, { headers })).status).toBe(204);
    const again = await rest(`DELETE /items/${id}`, { headers });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([204, "true"]);
  });

  it("refuses what somebody else holds", async () => {
    const { id } = await make();
    const input = { actor: { id: "a", kind: "subagent" }, requestId: randomUUID(), claims: [{ itemId: id }] };
    await server.engine.execute("claim_item", parseInput(claimItem, input), testCaller());
    expect((await rest(`DELETE /items/${id}`)).body).toMatchObject({ status: 409, error: "item_held" });
    expect((await rest(`GET /items/${id}`)).body.isClaimed).toBe(true);
  });
});
