import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RestClient, restClient } from "../../support/rest-client.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";

let server: RealServer;
let rest: RestClient;
const GONE = randomUUID();
/** A project with two features, one of which has two tasks. */
let root: string;
let feature: string;
let bare: string;
let tasks: string[];

async function make(fields: Record<string, unknown>): Promise<string> {
  const made = await rest("POST /items", { body: fields });
  expect(made.status).toBe(201);
  return made.body.id;
}

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  rest = restClient(server);
  root = await make({ title: "Project", type: "project" });
  feature = await make({ title: "Search of words", parentId: root, tags: ["ui", "fast"], priority: "high" });
  bare = await make({ title: "Bare", parentId: root, tags: ["ui"] });
  tasks = [
    await make({ title: "First", parentId: feature, description: "x".repeat(3_000) }),
    await make({ title: "Second", parentId: feature }),
  ];
  await make({ title: "Another project" });
});
afterAll(() => server.close());

const ids = (reply: { readonly body: { readonly items: readonly { readonly id: string }[] } }): string[] =>
  reply.body.items.map((item) => item.id);

describe("GET /items", () => {
  it.each([
    ["tag=ui,fast", () => [feature]],
    ["tag=ui&tag=fast", () => [feature]],
    ["tagAny=fast,nothing", () => [feature]],
    ["tagAny=ui&orderBy=title&orderDir=desc", () => [feature, bare]],
    ["type=project", () => [root]],
    ["priority=high", () => [feature]],
    ["rootId=ROOT&role=queue&orderDir=asc", () => [root, feature, bare, ...tasks]],
    ["parentId=ROOT&orderDir=asc", () => [feature, bare]],
    ["rootId=ROOT&claimStatus=claimed", () => []],
    ["rootId=ROOT&createdAfter=2099-01-01", () => []],
    ["rootId=ROOT&modifiedBefore=2099-01-01T00:00:00Z&role=work", () => []],
  ])("?%s", async (query, expected) => {
    expect(ids(await rest(`GET /items?${query.replaceAll("ROOT", root)}`))).toEqual(expected());
  });

  it("pages by number, without holes or repetitions, and says how many there are", async () => {
    const pages = await Promise.all(
      [1, 2, 3].map((page) => rest(`GET /items?rootId=${root}&pageSize=2&page=${page}&orderDir=asc`)),
    );
    expect(pages.map(({ body }) => [body.totalItems, body.hasMore])).toEqual([
      [5, true],
      [5, true],
      [5, false],
    ]);
    expect(pages.flatMap(ids)).toEqual([root, feature, bare, ...tasks]);
  });

  it("shows items in full, but of a long description the beginning, and says so", async () => {
    const { items } = (await rest(`GET /items?parentId=${feature}&orderDir=asc`)).body;
    expect(items[0]).toMatchObject({ title: "First", clipped: ["description"], etag: items[0]?.etag });
    expect(String(items[0]?.description).length).toBeLessThanOrEqual(1_001);
    expect(items[1]).toMatchObject({ title: "Second", tags: [], properties: {}, depth: 2 });
  });

  it.each([
    "role=nothing",
    "priority=urgent",
    "claimStatus=maybe",
    "page=0",
    "pageSize=201",
    "pageSize=many",
    "orderBy=colour",
    "tag=NOT OK",
    "createdAfter=yesterday",
    "createdAfter=2026-02-01&createdBefore=2026-01-01",
    "colour=red",
    "rootId=zz",
  ])("refuses ?%s", async (query) => {
    const refused = await rest(`GET /items?${query}`);
    expect([refused.status, refused.body.error]).toEqual([400, "validation_error"]);
  });
});

describe("places in the tree", () => {
  it("GET /items/roots lists what has no parent", async () => {
    const roots = await rest("GET /items/roots?pageSize=1");
    expect(roots.body).toMatchObject({ totalItems: 2, hasMore: true });
    expect((await rest("GET /items/roots")).body.items.map((one) => one.title)).toEqual([
      "Another project",
      "Project",
    ]);
  });

  it("GET /items/{id}/children lists the children of an item that exists", async () => {
    expect(ids(await rest(`GET /items/${root}/children`))).toEqual([feature, bare]);
    expect((await rest(`GET /items/${GONE}/children`)).status).toBe(404);
  });

  it("GET /items/{id}/tree has the top once, whatever the page, and goes as deep as it is told", async () => {
    expect(ids(await rest(`GET /items/${root}/tree`))).toEqual([root, feature, bare, ...tasks]);
    expect(ids(await rest(`GET /items/${root}/tree?depth=1`))).toEqual([root, feature, bare]);
    expect(ids(await rest(`GET /items/${root}/tree?depth=0`))).toEqual([root]);
    expect(ids(await rest(`GET /items/${root}/tree?pageSize=2&page=2`))).toEqual([bare, tasks[0]]);
    expect((await rest(`GET /items/${GONE}/tree`)).status).toBe(404);
    expect((await rest(`GET /items/${root}/tree?depth=-1`)).status).toBe(400);
  });

  it("GET /items/{id}/breadcrumbs leads down from the root", async () => {
    const path = await rest(`GET /items/${tasks[0]}/breadcrumbs`);
    expect(path.body).toMatchObject([{ id: root }, { id: feature }]);
    expect((await rest(`GET /items/${root}/breadcrumbs`)).body).toEqual([]);
    expect((await rest(`GET /items/${GONE}/breadcrumbs`)).status).toBe(404);
  });
});

describe("notes", () => {
  const path = (): string => `/items/${bare}/notes/plan%2Fb`;
  const write = (body: unknown, headers: Record<string, string> = {}) =>
    rest(`PUT ${path()}`, { body, headers });

  it("are made, changed by those who know them, read, listed and deleted", async () => {
    const made = await write({ role: "work", body: "One" });
    expect([made.status, made.body]).toMatchObject([
      201,
      { key: "plan/b", role: "work", body: "One", etag: "v1" },
    ]);
    const etag = made.headers.get("etag") ?? "";
    const changed = await write({ role: "work", body: "Two" }, { "if-match": etag });
    expect([changed.status, changed.body.etag]).toEqual([200, "v2"]);
    const stale = await write({ role: "work", body: "Three" }, { "if-match": etag });
    expect([stale.status, stale.body.error]).toEqual([412, "etag_mismatch"]);
    const read = await rest(`GET ${path()}`);
    expect(read.body).toMatchObject({ body: "Two", actor: { id: "api:local" } });
    const known = await rest(`GET ${path()}`, {
      headers: { "if-none-match": read.headers.get("etag") ?? "" },
    });
    expect(known.status).toBe(304);
    const list = await rest(`GET /items/${bare}/notes?role=work`);
    expect([list.body, list.headers.get("x-has-more")]).toMatchObject([[{ key: "plan/b" }], "false"]);
    expect((await rest(`GET /items/${bare}/notes?role=queue`)).body).toEqual([]);
    expect((await rest(`DELETE ${path()}`)).status).toBe(204);
    expect((await rest(`GET ${path()}`)).status).toBe(404);
    expect((await rest(`DELETE ${path()}`)).status).toBe(404);
  });

  it("repeat their answers for a key that was used", async () => {
    const key = { "idempotency-key": randomUUID() };
    await write({ role: "work", body: "One" }, key);
    const again = await write({ role: "work", body: "One" }, key);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const gone = { headers: { "idempotency-key": randomUUID() } };
    expect((await rest(`DELETE ${path()}`, gone)).status).toBe(204);
    expect((await rest(`DELETE ${path()}`, gone)).status).toBe(204);
  });

  it("are refused with what is wrong with them", async () => {
    expect((await write({ body: "x" })).body).toMatchObject({ status: 400, error: "validation_error" });
    expect((await write({ role: "terminal", body: "x" })).status).toBe(400);
    expect((await write({ role: "work", body: 7 })).status).toBe(400);
    expect((await write({ role: "work", body: "x".repeat(65_537) })).body).toMatchObject({
      status: 413,
      error: "NOTE_BODY_TOO_LARGE",
    });
    expect((await rest(`PUT /items/${GONE}/notes/a`, { body: { role: "work", body: "x" } })).status).toBe(
      404,
    );
    expect((await rest(`GET /items/${GONE}/notes`)).status).toBe(404);
  });

  it("are read whole, however long they are", async () => {
    const body = 'ü"\\'.repeat(15_000);
    await write({ role: "work", body });
    expect((await rest(`GET ${path()}`)).body).toMatchObject({ body });
    expect((await rest(`GET /items/${bare}/notes`)).body).toMatchObject([{ body }]);
    await rest(`DELETE ${path()}`);
  });
});

describe("dependencies", () => {
  it("are drawn, shown from both ends, and removed", async () => {
    const key = { headers: { "idempotency-key": randomUUID() } };
    const edge = { fromItemId: bare, toItemId: tasks[0], type: "blocks", unblockAt: "review" };
    const drawn = await rest("POST /dependencies", { body: edge, ...key });
    expect([drawn.status, drawn.body]).toMatchObject([201, { type: "BLOCKS", unblockAt: "review" }]);
    const again = await rest("POST /dependencies", { body: edge, ...key });
    expect([again.status, again.body.id, again.headers.get("idempotency-replayed")]).toEqual([
      201,
      drawn.body.id,
      "true",
    ]);
    expect((await rest(`GET /items/${bare}/dependencies`)).body).toMatchObject({
      blocks: [{ toItemId: tasks[0] }],
      blockedBy: [],
      related: [],
    });
    expect((await rest(`GET /items/${tasks[0]}/dependencies`)).body).toMatchObject({
      blocks: [],
      blockedBy: [{ fromItemId: bare }],
    });
    expect((await rest(`GET /items/${tasks[0]}/backlinks`)).body).toMatchObject([
      { fromItemId: bare, fromTitle: "Bare", type: "BLOCKS" },
    ]);
    expect((await rest(`DELETE /dependencies/${drawn.body.id}`)).status).toBe(204);
    expect((await rest(`DELETE /dependencies/${drawn.body.id}`)).status).toBe(404);
  });

  it("are refused as circles, as duplicates, and to what does not exist", async () => {
    const there = { fromItemId: bare, toItemId: tasks[1] };
    const { id } = (await rest("POST /dependencies", { body: there })).body;
    const circle = await rest("POST /dependencies", { body: { fromItemId: tasks[1], toItemId: bare } });
    expect(circle.body).toMatchObject({ status: 400, error: "cycle_detected" });
    const twice = await rest("POST /dependencies", { body: there });
    expect(twice.status).toBe(409);
    const related = await rest("POST /dependencies", {
      body: { ...there, type: "relates_to", unblockAt: "work" },
    });
    expect(related.body).toMatchObject({ status: 400, error: "validation_error" });
    const nowhere = await rest("POST /dependencies", { body: { fromItemId: bare, toItemId: GONE } });
    expect(nowhere.body).toMatchObject({ status: 404, error: "not_found" });
    for (const path of ["dependencies", "backlinks"])
      expect((await rest(`GET /items/${GONE}/${path}`)).status).toBe(404);
    await rest(`DELETE /dependencies/${id}`);
  });
});

describe("search", () => {
  it("finds items and notes by their words", async () => {
    await rest(`PUT /items/${bare}/notes/find`, { body: { role: "work", body: "A particular haystack" } });
    const items = await rest(`GET /search?q=${encodeURIComponent("search words")}&tag=ui`);
    expect(items.body).toMatchObject([{ itemId: feature, title: "Search of words" }]);
    const notes = await rest("GET /notes/search?q=haystack");
    expect(notes.body).toMatchObject([{ itemId: bare, noteKey: "find" }]);
    expect(notes.headers.get("x-total-hits")).toBe("1");
  });

  it("refuses to search for nothing, or below what does not exist", async () => {
    for (const path of ["/search", "/notes/search", "/search?q=", "/notes/search?q=%20"])
      expect((await rest(`GET ${path}`)).body).toMatchObject({ status: 400, error: "validation_error" });
  });
});
