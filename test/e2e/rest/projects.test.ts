import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RestClient, restClient } from "../../support/rest-client.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";

let server: RealServer;
let rest: RestClient;
let root: string;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  rest = restClient(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  root = (await rest("POST /items", { body: { title: "Project", type: "project" } })).body.id;
});

const CONFIG = `# of a project
work_item_schemas:
  task:
    notes:
      - key: spec
        role: queue
        required: true
        description: What is wanted
      - key: review
        role: review
        skill: rule/review
traits:
  careful:
    notes:
      - key: risks
        role: work
`;
const fingerprint = (text: string): string => createHash("sha256").update(text).digest("hex");
const yaml = (body: string, headers: Record<string, string> = {}) => ({
  body,
  type: "application/yaml",
  headers,
});
const GONE = randomUUID();

describe("the requests of the public client hooks", () => {
  it("config-sync finds nothing, pushes, is in sync, and sees that another one pushed", async () => {
    const path = `/roots/${root}/config`;
    const pull = await rest(`GET ${path}?fingerprint=${fingerprint(CONFIG)}`);
    expect([pull.status, pull.body.error]).toEqual([404, "not_found"]);
    const push = await rest(`PUT ${path}`, yaml(CONFIG));
    expect([push.status, push.body.fingerprint]).toEqual([200, fingerprint(CONFIG)]);

    const synced = await rest(`GET ${path}?fingerprint=${fingerprint(CONFIG)}`);
    expect(synced.body).toMatchObject({ relation: "current", configYaml: CONFIG, rootId: root });
    expect(synced.headers.get("etag")).toBe(`"cfg-${fingerprint(CONFIG)}"`);

    const later = CONFIG.replace("What is wanted", "What is really wanted");
    const etag = synced.headers.get("etag") ?? "";
    expect((await rest(`PUT ${path}`, yaml(later, { "if-match": etag }))).status).toBe(200);
    const stale = await rest(`PUT ${path}`, yaml(`${CONFIG}\n# mine`, { "if-match": etag }));
    expect([stale.status, stale.body.error]).toEqual([412, "etag_mismatch"]);

    const old = await rest(`GET ${path}?fingerprint=${fingerprint(CONFIG)}`);
    expect(old.body).toMatchObject({
      relation: "superseded",
      updatedAt: expect.stringMatching(/^2/) as string,
    });
    const unknown = await rest(`GET ${path}?fingerprint=${fingerprint("x")}`);
    expect(unknown.body).toMatchObject({ relation: "unknown" });
  });

  it("plan-capture stores a plan as plain text", async () => {
    const plan = await rest(`PUT /roots/${root}/plans/2026-12-01-launch`, {
      body: "# Launch\n\nSteps",
      type: "text/plain",
    });
    expect([plan.status, plan.body]).toMatchObject([200, { slug: "2026-12-01-launch", status: "pending" }]);
    const read = await rest(`GET /roots/${root}/plans/2026-12-01-launch`);
    expect(read.body).toMatchObject({ body: "# Launch\n\nSteps" });
    const { items } = (await rest(`GET /roots/${root}/plans?pageSize=5`)).body;
    expect(items).toMatchObject([{ slug: "2026-12-01-launch" }]);
  });

  it("rules sync stores a rule under an escaped slug, and lists what marks each text", async () => {
    const put = await rest(`PUT /roots/${root}/plans/rule%2Freview`, {
      body: "Read it twice.",
      type: "text/markdown",
    });
    expect([put.status, put.body]).toMatchObject([200, { slug: "rule/review" }]);
    const { body } = await rest(`GET /roots/${root}/rules`);
    expect(body).toMatchObject({
      rules: [{ key: "review", rulesVersion: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
    });
    const rule = await rest(`GET /roots/${root}/rules/review`);
    expect(rule.body).toMatchObject({ key: "review", body: "Read it twice." });
    const again = await rest(`GET /roots/${root}/rules/review`, {
      headers: { "if-none-match": rule.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });
});

describe("PUT /roots/{rootId}/config", () => {
  const path = (): string => `PUT /roots/${root}/config`;

  it("refuses a text that was superseded, and takes it when forced [B82]", async () => {
    await rest(path(), yaml(CONFIG));
    await rest(path(), yaml(`${CONFIG}# later\n`));
    const old = await rest(path(), yaml(CONFIG));
    expect([old.status, old.body.error]).toEqual([409, "superseded"]);
    expect((await rest(`${path()}?force=true`, yaml(CONFIG))).status).toBe(200);
  });

  it("refuses a text of another root, one that cannot be read, and one that is too large", async () => {
    const foreign = await rest(path(), yaml(`project:\n  rootId: ${GONE}\n`));
    expect([foreign.status, foreign.body.error]).toEqual([422, "rootid_mismatch"]);
    const broken = await rest(path(), yaml("work_item_schemas: [unclosed"));
    expect([broken.status, broken.body.error]).toEqual([400, "parse_error"]);
    const large = await rest(path(), yaml(`# ${"x".repeat(131_072)}\n`));
    expect([large.status, large.body.error]).toEqual([413, "payload_too_large"]);
    const json = await rest(path(), { body: {} });
    expect([json.status, json.body.error]).toEqual([415, "unsupported_media_type"]);
    const nowhere = await rest(`PUT /roots/${GONE}/config`, yaml(CONFIG));
    expect([nowhere.status, nowhere.body.error]).toEqual([404, "not_found"]);
  });

  it("reads back a text that is longer than one answer of a tool", async () => {
    const long = `${CONFIG}# ${'"wörd" '.repeat(12_000)}\n`;
    expect((await rest(path(), yaml(long))).status).toBe(200);
    const read = await rest(`GET /roots/${root}/config`);
    expect(read.body).toMatchObject({ configYaml: long });
  });

  it("repeats its answer for a key that was used", async () => {
    const key = { "idempotency-key": randomUUID() };
    await rest(path(), yaml(CONFIG, key));
    const again = await rest(path(), yaml(CONFIG, key));
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  });
});

describe("DELETE /roots/{rootId}/config", () => {
  it("goes back to the server's own file, for gates too", async () => {
    await rest(`PUT /roots/${root}/config`, yaml(CONFIG));
    const task = (await rest("POST /items", { body: { title: "T", type: "task", parentId: root } })).body.id;
    const held = await rest(`POST /items/${task}/advance`, { body: { trigger: "start" } });
    expect([held.status, held.body.error]).toEqual([422, "gate_blocked"]);
    const stale = await rest(`DELETE /roots/${root}/config`, { headers: { "if-match": '"cfg-other"' } });
    expect([stale.status, stale.body.error]).toEqual([412, "etag_mismatch"]);
    const key = { headers: { "idempotency-key": randomUUID() } };
    expect((await rest(`DELETE /roots/${root}/config`, key)).status).toBe(204);
    expect((await rest(`DELETE /roots/${root}/config`, key)).status).toBe(204);
    expect((await rest(`GET /roots/${root}/config`)).status).toBe(404);
    expect((await rest(`DELETE /roots/${root}/config`)).status).toBe(404);
    expect((await rest(`POST /items/${task}/advance`, { body: { trigger: "start" } })).status).toBe(200);
  });
});

describe("what is configured", () => {
  it.each(["/config", "/config/schemas", "/traits", "/types", "/status-graph"])(
    "GET %s is known by its ETag, with and without a project",
    async (path) => {
      await rest(`PUT /roots/${root}/config`, yaml(CONFIG));
      const own = await rest(`GET ${path}?rootId=${root}`);
      const global = await rest(`GET ${path}`);
      expect([own.status, global.status]).toEqual([200, 200]);
      const etag = own.headers.get("etag") ?? "";
      expect(etag).not.toBe(global.headers.get("etag"));
      expect((await rest(`GET ${path}?rootId=${root}`, { headers: { "if-none-match": etag } })).status).toBe(
        304,
      );
      expect((await rest(`GET ${path}?rootId=${GONE}`)).status).toBe(404);
      expect((await rest(`GET ${path}?colour=red`)).status).toBe(400);
    },
  );

  it("says what a project's types expect, its traits, and where triggers lead", async () => {
    await rest(`PUT /roots/${root}/config`, yaml(CONFIG));
    const schema = await rest(`GET /schemas/task?rootId=${root}`);
    expect(schema.body).toMatchObject({
      type: "task",
      lifecycleMode: "auto",
      hasReviewPhase: true,
      notes: [{ key: "spec", role: "queue", required: true }, { key: "review" }],
    });
    expect((await rest(`GET /schemas/nothing?rootId=${root}`)).status).toBe(404);
    const traits = await rest(`GET /traits?rootId=${root}`);
    expect(traits.body).toMatchObject([{ name: "careful", notes: [{ key: "risks" }] }]);
    const graph = await rest(`GET /status-graph?rootId=${root}`);
    expect(graph.body).toMatchObject({
      types: [
        {
          type: "task",
          transitions: {
            work: { start: "review" },
            blocked: { resume: "<previousRole>", cancel: "terminal" },
            terminal: { reopen: "queue" },
          },
        },
      ],
    });
    const effective = await rest(`GET /roots/${root}/config/effective`);
    expect(effective.body).toMatchObject({
      rootId: root,
      fingerprint: fingerprint(CONFIG),
      schemas: [{ type: "task" }],
    });
    expect(effective.headers.get("etag")).toMatch(/^"eff-/);
  });
});

describe("plans", () => {
  it("refuses a slug that is none, a rule that is too large, and a media type that is no text", async () => {
    const bad = await rest(`PUT /roots/${root}/plans/-x`, { body: "x", type: "text/plain" });
    expect([bad.status, bad.body.error]).toEqual([400, "validation_error"]);
    const rule = await rest(`PUT /roots/${root}/plans/rule%2Flong`, {
      body: "x".repeat(20_000),
      type: "text/plain",
    });
    expect([rule.status, rule.body.error]).toEqual([413, "payload_too_large"]);
    const plan = await rest(`PUT /roots/${root}/plans/long`, {
      body: "x".repeat(70_000),
      type: "text/plain",
    });
    expect([plan.status, plan.body.error]).toEqual([413, "payload_too_large"]);
    const json = await rest(`PUT /roots/${root}/plans/a`, { body: {} });
    expect(json.status).toBe(415);
    expect((await rest(`GET /roots/${root}/plans/nothing`)).status).toBe(404);
    expect((await rest(`GET /roots/${root}/rules/nothing`)).status).toBe(404);
    expect((await rest(`GET /roots/${GONE}/plans`)).status).toBe(404);
    expect((await rest(`GET /roots/${GONE}/rules`)).status).toBe(404);
  });
});
