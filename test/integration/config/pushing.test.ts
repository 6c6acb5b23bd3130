/** A project's text: what is taken, what is refused, and what is remembered of it. */
import { beforeEach, describe, expect, it } from "vitest";
import { randomUUID } from "node:crypto";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { createItem, Project } from "./project.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import {
  type GetConfigOutput,
  manageProjectConfig,
} from "../../../services/contract/operations/manage-project-config.ts";

const FIRST = "work_item_schemas:\n  task:\n    notes:\n      - {key: plan, role: queue, required: true}\n";
const SECOND = "work_item_schemas:\n  task:\n    notes: []\n";

describeEachDatabase("pushing the configuration of a project", (database) => {
  let engine: TestEngine;
  let project: Project;

  beforeEach(async () => {
    engine = createTestEngine(database());
    project = await Project.create(engine);
    return () => engine.close();
  });

  it("a text that was pushed is read back as it was sent, with its fingerprint", async () => {
    const pushed = await project.push(FIRST);
    expect(pushed).toMatchObject({
      rootId: project.rootId,
      changed: true,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(pushed).not.toHaveProperty("warning");
    expect(await project.get()).toEqual({
      rootId: project.rootId,
      configYaml: FIRST,
      fingerprint: pushed.fingerprint,
      updatedAt: pushed.updatedAt,
    });
  });

  it("the same text with other line ends and a mark at its start is the same text [B82]", async () => {
    const pushed = await project.push(FIRST);
    for (const same of [FIRST, FIRST.replaceAll("\n", "\r\n"), `\uFEFF${FIRST}`]) {
      expect(await project.push(same)).toMatchObject({ changed: false, fingerprint: pushed.fingerprint });
    }
    expect(await project.get()).toMatchObject({ configYaml: FIRST, updatedAt: pushed.updatedAt });
  });

  it("a text that was superseded is refused, and pushed again by force [B82]", async () => {
    const { fingerprint: old } = await project.push(FIRST);
    const { fingerprint: current } = await project.push(SECOND);
    await expect(project.push(FIRST)).rejects.toMatchObject({ code: "CONFLICT_ERROR", details: { current } });
    expect(await project.get({ fingerprint: old })).toMatchObject({
      configYaml: SECOND,
      relation: "superseded",
    });
    expect(await project.get({ fingerprint: current })).toMatchObject({ relation: "current" });
    expect(await project.get({ fingerprint: "0".repeat(64) })).toMatchObject({ relation: "unknown" });
    expect(await project.push(FIRST, { force: true })).toMatchObject({ changed: true, fingerprint: old });
    await expect(project.push(SECOND)).rejects.toMatchObject({ code: "CONFLICT_ERROR" });
  });

  it("twenty fingerprints are remembered; what is older counts as new", async () => {
    await project.push(FIRST);
    for (let index = 0; index < 20; index += 1) await project.push(`${SECOND}# ${index}\n`);
    await expect(project.push(`${SECOND}# 0\n`)).rejects.toMatchObject({ code: "CONFLICT_ERROR" });
    expect(await project.push(FIRST)).toMatchObject({ changed: true });
  });

  it("a text that names another project is refused, unless by force [B82]", async () => {
    const foreign = `project: {rootId: ${randomUUID()}}\n${FIRST}`;
    await expect(project.push(foreign)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(project.get()).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    expect(await project.push(foreign, { force: true })).toMatchObject({ changed: true });
    for (const own of [project.rootId, project.rootId.toUpperCase(), "the shop"])
      expect(await project.push(`project: {rootId: "${own}"}\n${FIRST}`)).toMatchObject({ changed: true });
  });

  it("only a root has a text, and one that is no project is warned", async () => {
    const childId = await project.item();
    await expect(project.push(FIRST, { rootId: childId })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      hint: expect.stringContaining(project.rootId) as string,
    });
    await expect(project.push(FIRST, { rootId: randomUUID() })).rejects.toMatchObject({
      code: "RESOURCE_NOT_FOUND",
    });
    const plainId = await createItem(engine);
    expect(await project.push(FIRST, { rootId: plainId })).toMatchObject({
      warning: expect.stringContaining("not project") as string,
    });
  });

  it("sections that a project cannot set are listed, and so is what is probably not meant", async () => {
    const text = `${FIRST}actor_authentication: {enabled: true}\nretrospective: {mode: nudge}\nidentity: actor\n`;
    expect(await project.push(`${text}resources: {db: {budgetLimit: 3}}\n`)).toMatchObject({
      ignoredSections: ["actor_authentication", "retrospective", "identity"],
      schemaWarnings: [expect.stringContaining("budgetLimit") as string],
    });
  });

  it("a text with a fault is refused with its place, and nothing is stored [B84]", async () => {
    await project.push(FIRST);
    const faulty = [
      ["work_item_schemas: [", "line 1"],
      [
        "work_item_schemas: {task: {notes: [{key: plan, role: wrk}]}}",
        "work_item_schemas.task.notes[0].role",
      ],
      [
        "work_item_schemas: {task: {notes: [{key: plan, role: work, requierd: true}]}}",
        "did you mean required",
      ],
      ["work_item_schema: {}", "did you mean work_item_schemas"],
      ["a: !!js/function x", "tag"],
      ["x".repeat(131_073), "131072"],
    ] as const;
    for (const [text, place] of faulty) {
      await expect(project.push(text)).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(place) as string,
      });
    }
    expect(await project.get()).toMatchObject({ configYaml: FIRST });
  });

  it.each([
    ["wide letters", `# ab${"😀".repeat(30_000)}\n`],
    ["wide letters that begin one place later", `# abc${"😀".repeat(30_000)}\n`],
    ["quotes", `# ${'"'.repeat(120_000)}\n`],
    ["plain letters", `# ${"a".repeat(130_000)}\n`],
  ])("a long text is read back in parts that fit together: %s", async (_what, text) => {
    await project.push(text);
    const parts: string[] = [];
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const part: GetConfigOutput = await project.get({ offset });
      expect(part.configYaml.isWellFormed()).toBe(true);
      parts.push(part.configYaml);
      offset = part.nextOffset;
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join("") === text).toBe(true);
  });

  it("a push that is sent twice is done once, and says who did it", async () => {
    const requestId = randomUUID();
    const first = await project.push(FIRST, { requestId, actor: worker("ada") });
    await project.push(SECOND);
    expect(await project.push(FIRST, { requestId, actor: worker("ada") })).toEqual({
      ...first,
      replayed: true,
    });
    expect(await project.get()).toMatchObject({ configYaml: SECOND });
    await expect(project.push(SECOND, { requestId, actor: worker("ada") })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
  });

  it("of two texts that are pushed at once one is the later, and both are remembered", async () => {
    const [first, second] = await Promise.all([project.push(FIRST), project.push(SECOND)]);
    const { fingerprint } = await project.get();
    const earlier = fingerprint === first.fingerprint ? second : first;
    expect(await project.get({ fingerprint: earlier.fingerprint })).toMatchObject({ relation: "superseded" });
  });
});

describe("arguments of manage_project_config", () => {
  it("a push needs its text, and what belongs to the other operation is refused", () => {
    const rootId = randomUUID();
    expect(() => parseInput(manageProjectConfig, { operation: "push", rootId })).toThrow("configYaml");
    expect(() => parseInput(manageProjectConfig, { operation: "get", rootId, configYaml: "" })).toThrow(
      "belongs to push",
    );
  });
});
