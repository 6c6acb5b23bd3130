/** A whole plan in one call: everything of it, or nothing. */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import type { CreateWorkTreeOutput } from "../../../services/contract/operations/create-work-tree.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { createItem, Project } from "../config/project.ts";

const SCHEMA = `
work_item_schemas:
  task:
    notes:
      - {key: plan, role: queue, required: true}
      - {key: result, role: work, required: true}
      - {key: check, role: review, maxLength: 10}
`;
const PLAN = [
  "# API",
  "The server.",
  "```sh",
  "# no heading",
  "```",
  "# UI",
  "Buttons.",
  "# UI",
  "Menus.",
].join("\n");

describeEachDatabase("creating a tree of work", (database) => {
  let engine: TestEngine;
  let project: Project;

  beforeEach(async () => {
    engine = createTestEngine(database());
    project = await Project.create(engine);
    return () => engine.close();
  });

  const create = async (input: object): Promise<CreateWorkTreeOutput> =>
    (await engine.call("create_work_tree", input)) as CreateWorkTreeOutput;
  const attach = async (input: object): Promise<CreateWorkTreeOutput> =>
    await create({ root: { id: project.rootId }, ...input });
  const idOf = (tree: CreateWorkTreeOutput, ref: string): string =>
    tree.children.find((one) => one.ref === ref)?.id ?? "";
  const stateOf = async (id: string) =>
    await database()
      .db.selectFrom("item_state")
      .selectAll()
      .where("item_id", "=", id)
      .executeTakeFirstOrThrow();
  const countRows = async () => ({
    items: (await database().db.selectFrom("items").select("id").execute()).length,
    notes: (await database().db.selectFrom("notes").select("id").execute()).length,
    edges: (await database().db.selectFrom("dependencies").select("id").execute()).length,
    events: (await database().db.selectFrom("events").select("seq").execute()).length,
    keys: (await database().db.selectFrom("idempotency").select("key").execute()).length,
  });
  const noteOf = async (itemId: string, key: string): Promise<unknown> =>
    await engine.call("query_notes", { operation: "get", itemId, key });
  const child = (ref: string, more: object = {}) => ({ ref, title: ref.toUpperCase(), ...more });

  it("items hang where their refs say, with every field, and wait for each other", async () => {
    const tree = await create({
      root: { title: "Shop", type: "project", tags: "a,b" },
      children: [
        child("leaf", { parentRef: "box", complexity: 3, priority: "high", summary: "S", metadata: "m" }),
        child("box", { traits: "x", needs: "gpu", assignee: "ann", properties: { n: 1 } }),
        child("first", { requiresVerification: true, description: "D", statusLabel: "new" }),
      ],
      deps: [
        { from: "first", to: "box", unblockAt: "work" },
        { from: "root", to: "leaf", type: "RELATES_TO" },
      ],
    });
    expect(tree).toMatchObject({
      root: { title: "Shop", depth: 0, role: "queue", tags: "a,b", type: "project", schemaMatch: false },
      created: { items: 4, dependencies: 2, notes: 0 },
      dependencies: [
        { fromRef: "first", toRef: "box", type: "BLOCKS" },
        { fromRef: "root", toRef: "leaf", type: "RELATES_TO" },
      ],
    });
    const [leaf, box, first] = ["leaf", "box", "first"].map((ref) => idOf(tree, ref));
    expect(await engine.call("query_items", { operation: "get", itemId: leaf })).toMatchObject({
      parentId: box,
      rootId: tree.root.id,
      depth: 2,
      complexity: 3,
      priority: "high",
      summary: "S",
      metadata: "m",
    });
    expect(await engine.call("query_items", { operation: "get", itemId: box })).toMatchObject({
      traits: "x",
      needs: "gpu",
      assignee: "ann",
      properties: { n: 1 },
    });
    expect(await stateOf(box ?? "")).toMatchObject({ blockers: 1, open_children: 1, ancestor_blockers: 0 });
    expect(await stateOf(leaf ?? "")).toMatchObject({ blockers: 0, ancestor_blockers: 1 });
    expect(await stateOf(tree.root.id)).toMatchObject({ open_children: 2 });
    await engine.call("advance_item", { itemId: first, trigger: "start" });
    expect(await stateOf(leaf ?? "")).toMatchObject({ ancestor_blockers: 0 });
    const events = await database()
      .db.selectFrom("events")
      .select("type")
      .where("root_id", "=", tree.root.id)
      .execute();
    expect(events.filter((one) => one.type === "item.created")).toHaveLength(4);
    expect(events.filter((one) => one.type === "dependency.added")).toHaveLength(2);
  });

  it("duplicate refs, unknown refs, cycles and unknown priorities are refused, and nothing is there [B69]", async () => {
    const requestId = randomUUID();
    const before = await countRows();
    const [a, b] = [child("a"), child("b")];
    const faulty: readonly (readonly [object, string])[] = [
      [{ children: [a, child("a")] }, "children[1].ref"],
      [{ children: [child("root")] }, "children[0].ref"],
      [{ children: [child("a", { parentRef: "z" })] }, "children[0].parentRef"],
      [{ children: [child("a", { parentRef: "b" }), child("b", { parentRef: "a" })] }, "below itself"],
      [{ children: [a], deps: [{ from: "a", to: "z" }] }, "deps[0]"],
      [{ children: [a], deps: [{ from: "a", to: "a" }] }, "deps[0]"],
      [
        {
          children: [a, b],
          deps: [
            { from: "a", to: "b" },
            { from: "b", to: "a" },
          ],
        },
        "cycle",
      ],
      [
        {
          children: [a, b],
          deps: [
            { from: "a", to: "b" },
            { from: "a", to: "b", type: "IS_BLOCKED_BY" },
          ],
        },
        "cycle",
      ],
      [{ children: [a], deps: [{ from: "root", to: "a" }] }, "cycle"],
      [{ children: [child("a", { priority: "urgent" })] }, "priority"],
      [{ children: [a], notes: [{ itemRef: "z", key: "k", role: "work" }] }, "notes[0].itemRef"],
      [{ children: [a], notes: [{ itemRef: "a", key: "k", role: "work", body: 7 }] }, "notes[0].body"],
      [{ children: [child("a", { noteAnchors: [{ noteKey: "k", role: "work", anchor: "x" }] })] }, "docRef"],
      [{ children: [child("a", { summary: "x\0" })] }, "NUL"],
    ];
    for (const [input, said] of faulty) {
      await expect(attach({ requestId, ...input })).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(said) as string,
      });
    }
    const chain = Array.from({ length: 65 }, (_, n) =>
      child(`c${n}`, n === 0 ? {} : { parentRef: `c${n - 1}` }),
    );
    await expect(attach({ children: chain })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await countRows()).toEqual(before);
    await attach({ requestId, children: chain.slice(0, 64) });
  });

  it("below an item that is not a root the depth counts from the root", async () => {
    const below = await project.item();
    const chain = Array.from({ length: 64 }, (_, n) =>
      child(`c${n}`, n === 0 ? {} : { parentRef: `c${n - 1}` }),
    );
    await expect(create({ root: { id: below }, children: chain })).rejects.toMatchObject({
      code: "limit_exceeded",
    });
    const tree = await create({ root: { title: "x" }, parentId: below, children: chain.slice(0, 62) });
    expect(tree.children.at(-1)?.depth).toBe(64);
  });

  it("nothing is put below a closed item", async () => {
    const closed = await project.item();
    await engine.call("advance_item", { itemId: closed, trigger: "complete" });
    const before = await countRows();
    for (const input of [{ root: { id: closed } }, { root: { title: "x" }, parentId: closed }])
      await expect(create({ ...input, children: [child("a")] })).rejects.toMatchObject({
        code: "parent_closed",
      });
    expect(await countRows()).toEqual(before);
  });

  it("the same call again answers as before; another one under its requestId is refused", async () => {
    const input = { requestId: randomUUID(), children: [child("a")] };
    const first = await attach(input);
    const before = await countRows();
    expect(await attach(input)).toEqual({ ...first, replayed: true });
    await expect(attach({ ...input, children: [child("b")] })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    expect(await countRows()).toEqual(before);
    const twice = { requestId: randomUUID(), children: [child("a")] };
    const answers = await Promise.all([attach(twice), attach(twice)]);
    expect(new Set(answers.map((one) => idOf(one, "a"))).size).toBe(1);
  });

  it("blank notes are made where the schemas expect some, and given ones say what they say [B72]", async () => {
    await project.push(SCHEMA);
    const tree = await attach({
      createNotes: true,
      children: [child("a", { type: "task" }), child("b", { type: "task" }), child("c")],
      notes: [
        { itemRef: "a", key: "plan", role: "queue", body: "Do it." },
        { itemRef: "b", key: "plan", role: "queue", body: null },
        { itemRef: "c", key: "free", role: "work", body: "null" },
      ],
      actor: { id: "planner", kind: "orchestrator" },
    });
    expect(tree.created).toMatchObject({ items: 3, notes: 7 });
    const a = tree.children.find((one) => one.ref === "a");
    expect(a).toMatchObject({
      schemaMatch: true,
      expectedNotes: [
        { key: "plan", exists: true },
        { key: "result", exists: true },
        { key: "check", exists: true },
      ],
    });
    expect(await noteOf(idOf(tree, "a"), "plan")).toMatchObject({ body: "Do it.", actor: { id: "planner" } });
    expect(await noteOf(idOf(tree, "b"), "plan")).toMatchObject({ body: "" });
    expect(await noteOf(idOf(tree, "c"), "free")).toMatchObject({ body: "null" });
    expect(await stateOf(idOf(tree, "a"))).toMatchObject({ start_gate_open: true });
    expect(await stateOf(idOf(tree, "b"))).toMatchObject({ start_gate_open: false });
  });

  it("attaching leaves filled notes as they are, and makes those that are missing [B70]", async () => {
    await project.push(SCHEMA);
    const itemId = await project.item({ type: "task" });
    await engine.call("manage_notes", {
      operation: "upsert",
      notes: [{ itemId, key: "plan", role: "queue", body: "Mine" }],
    });
    const tree = await create({
      root: { id: itemId },
      createNotes: true,
      notes: [{ itemRef: "root", key: "plan", role: "queue" }],
    });
    expect(tree.root).toMatchObject({ id: itemId, attached: true, title: "Shop", type: "task" });
    expect(tree.notes.map((one) => one.key)).toEqual(["result", "check"]);
    expect(await noteOf(itemId, "plan")).toMatchObject({ body: "Mine", version: 1 });
    expect((await create({ root: { id: itemId }, createNotes: true })).notes).toEqual([]);
  });

  it("a note under another role than its schema's refuses the call and says which [B71]", async () => {
    await project.push(SCHEMA);
    const before = await countRows();
    const input = { children: [child("a", { type: "task" })] };
    const wrong = [
      { itemRef: "a", key: "free", role: "work" },
      { itemRef: "a", key: "plan", role: "work" },
    ];
    await expect(attach({ ...input, notes: wrong })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/notes\[1\].*plan.*queue/) as string,
      details: { index: 1, key: "plan", expectedRole: "queue", submittedRole: "work" },
    });
    expect(await countRows()).toEqual(before);
  });

  const stash = async (slug: string): Promise<void> => {
    await engine.call("manage_plan_documents", {
      operation: "stash",
      rootId: project.rootId,
      slug,
      body: PLAN,
    });
  };
  const anchored = (anchor: string) => ({ noteAnchors: [{ noteKey: "plan", role: "queue", anchor }] });

  it("sections of a plan become notes, and the plan is adopted once", async () => {
    await stash("q3");
    const input = {
      docRef: { slug: "q3" },
      children: [child("a", anchored("api")), child("b", anchored("ui-2"))],
    };
    const tree = await attach(input);
    expect(tree.adoptedDocument).toMatchObject({
      slug: "q3",
      status: "adopted",
      adoptedByItemId: project.rootId,
    });
    expect(await noteOf(idOf(tree, "a"), "plan")).toMatchObject({
      body: "# API\nThe server.\n```sh\n# no heading\n```",
    });
    expect(await noteOf(idOf(tree, "b"), "plan")).toMatchObject({ body: "# UI\nMenus." });
    await expect(attach(input)).rejects.toMatchObject({ code: "CONFLICT_ERROR" });
    await expect(stash("q3")).rejects.toMatchObject({ code: "CONFLICT_ERROR" });
    await stash("q4");
    await expect(
      attach({ docRef: { slug: "q4" }, children: [child("a", anchored("no-heading"))] }),
    ).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { anchors: ["api", "ui", "ui-2"] },
    });
    await expect(create({ root: { title: "x" }, docRef: { slug: "q4" } })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    const other = await create({
      root: { title: "x", ...anchored("ui") },
      docRef: { rootId: project.rootId, slug: "q4" },
    });
    expect(await noteOf(other.root.id, "plan")).toMatchObject({ body: "# UI\nButtons." });
  });

  it("of two trees that are made from one plan at once, one is made", async () => {
    await stash("q3");
    const before = await countRows();
    const input = { docRef: { slug: "q3" }, children: [child("a", anchored("api"))] };
    const results = await Promise.allSettled([attach(input), attach(input), attach(input)]);
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect((await countRows()).items).toBe(before.items + 1);
  });

  it("an adopted plan stays adopted when the item that it was adopted by is deleted", async () => {
    await stash("q3");
    const parent = await createItem(engine);
    const tree = await create({
      root: { title: "x" },
      parentId: parent,
      docRef: { rootId: project.rootId, slug: "q3" },
    });
    await engine.call("manage_items", { operation: "delete", itemIds: [tree.root.id] });
    const found: unknown = await engine.call("manage_plan_documents", {
      operation: "get",
      rootId: project.rootId,
      slug: "q3",
    });
    expect(found).toMatchObject({ status: "adopted" });
    expect(found).not.toHaveProperty("adoptedByItemId");
  });

  it("a thousand items with their edges and notes are made at once, and the answer stays readable", async () => {
    await project.push(SCHEMA);
    const children = Array.from({ length: 999 }, (_, n) =>
      child(`item-${n}`, { type: "task", ...(n < 10 ? {} : { parentRef: `item-${n % 10}` }) }),
    );
    const deps = Array.from({ length: 900 }, (_, n) => ({ from: `item-${n}`, to: `item-${n + 1}` })).filter(
      ({ from, to }) => Number(from.slice(5)) >= 10 && Number(to.slice(5)) >= 10,
    );
    const tree = await attach({ children, deps: deps.filter((_, n) => n % 10 !== 9), createNotes: true });
    expect(tree.created.items).toBe(999);
    expect(Buffer.byteLength(JSON.stringify(tree))).toBeLessThan(64_000);
    expect(tree.children.length + (tree.omitted?.children ?? 0)).toBe(999);
  });
});
