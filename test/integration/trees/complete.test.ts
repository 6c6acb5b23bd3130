/* oxlint-disable typescript/no-unsafe-return, typescript/require-array-sort-compare -- a test that reads a wrong field fails by itself */
/** Completing a whole tree: in order, and by everything that one transition is judged by. */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import type { CompleteTreeOutput } from "../../../services/contract/operations/complete-tree.ts";
import type { CreateWorkTreeOutput } from "../../../services/contract/operations/create-work-tree.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { Project } from "../config/project.ts";

const SCHEMA = `
work_item_schemas:
  task:
    notes: [{key: result, role: work, required: true}]
`;

describeEachDatabase("completing a tree of work", (database) => {
  let engine: TestEngine;
  let project: Project;

  beforeEach(async () => {
    engine = createTestEngine(database());
    project = await Project.create(engine);
    return () => engine.close();
  });

  const complete = async (input: object): Promise<CompleteTreeOutput> =>
    (await engine.call("complete_tree", input)) as CompleteTreeOutput;
  const child = (ref: string, more: object = {}) => ({ ref, title: ref, ...more });

  /** Ids by ref. */
  const plant = async (
    children: readonly object[],
    deps: readonly object[] = [],
  ): Promise<Record<string, string>> => {
    const input = { root: { id: project.rootId }, children, deps };
    const tree = (await engine.call("create_work_tree", input)) as CreateWorkTreeOutput;
    return Object.fromEntries(tree.children.map((one) => [one.ref, one.id]));
  };
  const rolesOf = async (ids: readonly string[]): Promise<Record<string, string>> => {
    const rows = await database()
      .db.selectFrom("item_state")
      .select(["item_id", "role"])
      .where("item_id", "in", ids)
      .execute();
    return Object.fromEntries(rows.map((row) => [row.item_id, row.role]));
  };
  const byTitle = (output: CompleteTreeOutput) => new Map(output.results.map((one) => [one.title, one]));

  it("blockers come before what they block, and children before their parents", async () => {
    const ids = await plant(
      [child("box"), child("in", { parentRef: "box" }), child("z"), child("a")],
      [
        { from: "z", to: "box" },
        { from: "in", to: "a" },
      ],
    );
    const output = await complete({ rootId: project.rootId, actor: { id: "lead", kind: "orchestrator" } });
    expect(output.summary).toEqual({ total: 5, completed: 5, skipped: 0, gateFailures: 0, failed: 0 });
    const order = output.results.map((one) => one.title);
    for (const [first, second] of [
      ["z", "in"],
      ["in", "box"],
      ["in", "a"],
      ["a", "Shop"],
    ] as const)
      expect(order.indexOf(first)).toBeLessThan(order.indexOf(second));
    expect(byTitle(output).get("box")).toMatchObject({ applied: true, cascaded: true });
    expect(Object.values(await rolesOf([project.rootId, ...Object.values(ids)]))).toEqual(
      Array(5).fill("terminal"),
    );
    const audit = await database()
      .db.selectFrom("transitions")
      .select(["agent", "trigger"])
      .where("item_id", "=", ids["a"] ?? "")
      .execute();
    expect(audit).toEqual([{ agent: "lead", trigger: "complete" }]);
  });

  it("a refused gate skips what depends on it, and what was closed before counts as done [B73]", async () => {
    await project.push(SCHEMA);
    const ids = await plant(
      [child("done"), child("A", { type: "task" }), child("B"), child("C"), child("free")],
      [
        { from: "A", to: "B" },
        { from: "B", to: "C" },
        { from: "done", to: "free" },
      ],
    );
    await engine.call("advance_item", { itemId: ids["done"], trigger: "complete" });
    const output = await complete({ rootId: project.rootId });
    const results = byTitle(output);
    expect(results.get("A")).toMatchObject({ applied: false, gateErrors: ["missing: result"] });
    for (const title of ["B", "C", "Shop"])
      expect(results.get(title)).toMatchObject({
        applied: false,
        skipped: true,
        skippedReason: "dependency gate failed",
      });
    expect(results.get("done")).toMatchObject({ skipped: true, skippedReason: "already terminal" });
    expect(results.get("free")).toMatchObject({ applied: true, trigger: "complete" });
    expect(output.summary).toEqual({ total: 6, completed: 1, skipped: 4, gateFailures: 1, failed: 0 });
  });

  it("items that others hold are refused, the holder's own are completed [B73]", async () => {
    const ids = await plant(
      [child("mine"), child("theirs"), child("next")],
      [{ from: "theirs", to: "next" }],
    );
    const claim = async (itemId: string | undefined, id: string, workerId: string) =>
      await engine.call("claim_item", {
        actor: { id, kind: "subagent" },
        workerId,
        requestId: randomUUID(),
        claims: [{ itemId }],
      });
    await claim(ids["mine"], "ann", "w1");
    await claim(ids["theirs"], "bob", "w2");
    const output = await complete({
      rootId: project.rootId,
      includeRoot: false,
      actor: { id: "ann", kind: "subagent" },
      workerId: "w1",
    });
    const results = byTitle(output);
    expect(results.get("mine")).toMatchObject({ applied: true });
    expect(results.get("theirs")).toMatchObject({ applied: false, errorCode: "not_claim_holder" });
    expect(JSON.stringify(output)).not.toContain("bob");
    expect(results.get("next")).toMatchObject({ skipped: true, skippedReason: "dependency gate failed" });
    expect(await rolesOf([ids["theirs"] ?? ""])).toEqual({ [ids["theirs"] ?? ""]: "queue" });
  });

  it("a dependency on something outside of the set is not satisfied by it", async () => {
    const ids = await plant([child("outside"), child("inside")], [{ from: "outside", to: "inside" }]);
    const output = await complete({ itemIds: [ids["inside"]] });
    expect(output.results).toMatchObject([
      { applied: false, errorCode: "dependency_blocked", blockers: [{ fromItemId: ids["outside"] }] },
    ]);
    expect(output.summary).toMatchObject({ failed: 1, completed: 0 });
    const freed = await complete({ itemIds: [ids["outside"]] });
    expect(freed.unblockedItems).toEqual([{ itemId: ids["inside"], title: "inside" }]);
    const last = await complete({ itemIds: [ids["inside"]] });
    expect(last.cascaded).toMatchObject([{ itemId: project.rootId, targetRole: "terminal" }]);
  });

  it("cancelling asks for no notes, and blocked items are left when completing", async () => {
    await project.push(SCHEMA);
    const ids = await plant([child("A", { type: "task" }), child("B")], [{ from: "A", to: "B" }]);
    await engine.call("advance_item", { itemId: ids["B"], trigger: "hold" });
    const first = byTitle(await complete({ itemIds: [ids["B"]] }));
    expect(first.get("B")).toMatchObject({ skipped: true, skippedReason: "item is blocked" });
    const output = await complete({ rootId: project.rootId, trigger: "cancel" });
    expect(output.summary).toMatchObject({ total: 3, completed: 3 });
  });

  it("the same call again answers for every item as it did", async () => {
    await plant([child("A"), child("B")], [{ from: "A", to: "B" }]);
    const input = {
      rootId: project.rootId,
      requestId: randomUUID(),
      actor: { id: "lead", kind: "orchestrator" },
    };
    const first = await complete(input);
    const again = await complete(input);
    expect(again.summary).toEqual(first.summary);
    expect(byTitle(again).get("A")).toMatchObject({ applied: true, replayed: true });
    expect(byTitle(again).get("Shop")).toMatchObject({ applied: true, cascaded: true });
    await expect(complete({ ...input, trigger: "cancel" })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    expect((await complete({ ...input, requestId: randomUUID() })).summary).toMatchObject({
      completed: 0,
      skipped: 3,
    });
  });

  it("a retry finishes what the first try did not get to", async () => {
    const ids = await plant([child("A"), child("B")], [{ from: "A", to: "B" }]);
    await engine.call("advance_item", { itemId: ids["B"], trigger: "hold" });
    const input = { rootId: project.rootId, requestId: randomUUID() };
    expect((await complete(input)).summary).toMatchObject({ completed: 1, skipped: 2 });
    await engine.call("advance_item", { itemId: ids["B"], trigger: "resume" });
    expect((await complete(input)).summary).toMatchObject({ completed: 3, skipped: 0 });
  });

  it("what is not there is said so, and rootId and itemIds do not mix", async () => {
    const missing = randomUUID();
    const output = await complete({ itemIds: [missing, "beefbeef"] });
    expect(output.results.map((one) => one.errorCode).toSorted()).toEqual([
      "RESOURCE_NOT_FOUND",
      "item_not_found",
    ]);
    await expect(complete({ rootId: missing })).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    for (const input of [
      {},
      { rootId: missing, itemIds: [missing] },
      { itemIds: [missing], includeRoot: true },
    ])
      await expect(complete(input)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
