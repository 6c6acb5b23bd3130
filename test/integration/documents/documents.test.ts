/** Plans and rules of a project: stashing, reading, and what keeps a plan as it is. */
import { beforeEach, expect, it } from "vitest";
import type {
  GetDocumentOutput,
  ListDocumentsOutput,
  StashDocumentOutput,
} from "../../../services/contract/operations/manage-plan-documents.ts";
import type { GetRuleOutput, ListRulesOutput } from "../../../services/contract/operations/query-rules.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { Project } from "../config/project.ts";

const SCHEMA = `
work_item_schemas:
  task:
    notes:
      - {key: plan, role: queue, skill: planning}
      - {key: review, role: review, skill: rule/review}
      - {key: result, role: work}
`;

describeEachDatabase("documents of a project", (database) => {
  let engine: TestEngine;
  let project: Project;

  beforeEach(async () => {
    engine = createTestEngine(database());
    project = await Project.create(engine);
    return () => engine.close();
  });

  const stash = async (slug: string, body: string, more: object = {}): Promise<StashDocumentOutput> => {
    const input = { operation: "stash", rootId: project.rootId, slug, body, ...more };
    return (await engine.call("manage_plan_documents", input)) as StashDocumentOutput;
  };
  const get = async (slug: string): Promise<GetDocumentOutput> => {
    const input = { operation: "get", rootId: project.rootId, slug };
    return (await engine.call("manage_plan_documents", input)) as GetDocumentOutput;
  };
  const list = async (more: object = {}): Promise<ListDocumentsOutput> => {
    const input = { operation: "list", rootId: project.rootId, ...more };
    return (await engine.call("manage_plan_documents", input)) as ListDocumentsOutput;
  };
  const rules = async (input: object): Promise<unknown> => await engine.call("query_rules", input);

  it("a pending plan is written over in place, and keeps its id", async () => {
    const first = await stash("q3", "# One\n");
    const second = await stash("q3", "# Two\r\n");
    expect(second).toMatchObject({ id: first.id, status: "pending", changed: true });
    expect(second.contentHash).not.toBe(first.contentHash);
    expect(await get("q3")).toMatchObject({ id: first.id, body: "# Two\n", contentHash: second.contentHash });
    expect(await stash("q3", "\uFEFF# Two\n")).toMatchObject({ changed: false, updatedAt: second.updatedAt });
  });

  it("a document that is longer than an answer comes in parts, which are the whole text", async () => {
    // Quotes and characters of two places: neither may be cut through, nor weigh more than is sent.
    const body = `# Plan\n${'"'.repeat(20_000)}${"𝔘".repeat(11_000)}`;
    await stash("long", body);
    let read = "";
    let parts = 0;
    for (let offset: number | undefined = 0; offset !== undefined; parts += 1) {
      const input = { operation: "get", rootId: project.rootId, slug: "long", offset };
      const part = (await engine.call("manage_plan_documents", input)) as GetDocumentOutput;
      expect(part.body.isWellFormed()).toBe(true);
      read += part.body;
      offset = part.nextOffset;
    }
    expect(parts).toBeGreaterThan(1);
    expect(read).toBe(body);
    expect((await get("long")).nextOffset).toBeGreaterThan(0);
  });

  it("documents are listed by slug without their texts, page by page and by status", async () => {
    for (const slug of ["b", "a", "rule/x"]) await stash(slug, "text");
    const first = await list({ limit: 2 });
    expect(first).toMatchObject({ returned: 2, total: 3, hasMore: true });
    expect(first.plans.map((one) => one.slug)).toEqual(["a", "b"]);
    expect(first.plans[0]).not.toHaveProperty("body");
    expect((await list({ offset: 2 })).plans.map((one) => one.slug)).toEqual(["rule/x"]);
    expect(await list({ status: "adopted" })).toMatchObject({ returned: 0, total: 0, hasMore: false });
  });

  it("only a root has documents, and what is too long or badly named is refused", async () => {
    const child = await project.item();
    await expect(stash("q3", "x", { rootId: child })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(stash("q3", "x".repeat(65_537))).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(stash("rule/q3", "x".repeat(16_385))).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(stash("rule/Q3", "x")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(stash("q 3", "x")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(stash("q3", "x\0")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(get("q3")).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    expect(await stash("q3", "x".repeat(65_536))).toMatchObject({ changed: true });
    expect(await stash("rule/q3", "x".repeat(16_384))).toMatchObject({ changed: true });
  });

  it("a repeated stash answers as it did, and does not take back what came after", async () => {
    const requestId = "0e1d2c3b-4a59-4687-8796-a5b4c3d2e1f0";
    const first = await stash("q3", "one", { requestId });
    await stash("q3", "two");
    expect(await stash("q3", "one", { requestId })).toEqual({ ...first, replayed: true });
    expect(await get("q3")).toMatchObject({ body: "two" });
    await expect(stash("q3", "three", { requestId })).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });

  it("of many who stash one slug at once all are served, and one text is left", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => stash("q3", `text ${n}`)));
    expect(new Set(answers.map((one) => one.id)).size).toBe(1);
    expect(await list()).toMatchObject({ total: 1 });
  });

  it("a rule is found by its key, and by the note whose skill names it", async () => {
    await project.push(SCHEMA);
    const itemId = await project.item({ type: "task" });
    const { contentHash } = await stash("rule/planning", "Plan first.");
    await stash("rule/review", "Look twice.");
    const byKey = (await rules({
      operation: "get",
      rootId: project.rootId,
      key: "planning",
    })) as GetRuleOutput;
    expect(byKey).toMatchObject({ slug: "rule/planning", rulesVersion: contentHash, body: "Plan first." });
    expect(await rules({ operation: "get", itemId, noteKey: "plan" })).toEqual({
      ...byKey,
      resolvedFrom: { itemId, noteKey: "plan", skill: "planning" },
    });
    expect(await rules({ operation: "get", itemId, noteKey: "review" })).toMatchObject({
      body: "Look twice.",
      resolvedFrom: { skill: "rule/review" },
    });
    for (const noteKey of ["result", "nothing"])
      await expect(rules({ operation: "get", itemId, noteKey })).rejects.toMatchObject({
        code: "RESOURCE_NOT_FOUND",
      });
    await stash("plan", "no rule");
    const all = (await rules({ operation: "list", rootId: project.rootId })) as ListRulesOutput;
    expect(all.rules.map((rule) => rule.key)).toEqual(["planning", "review"]);
    for (const asked of [{}, { key: "x" }, { rootId: project.rootId, key: "x", itemId, noteKey: "plan" }])
      await expect(rules({ operation: "get", ...asked })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("documents come back from the trash with their project", async () => {
    const before = await stash("q3", "text");
    const { rootId } = project;
    await engine.call("manage_items", { operation: "delete", itemIds: [rootId] });
    await engine.call("manage_items", { operation: "restore", itemIds: [rootId] });
    expect(await get("q3")).toMatchObject({ id: before.id, body: "text", status: "pending" });
  });
});
