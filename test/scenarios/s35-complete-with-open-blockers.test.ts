/** Whatever route a completion takes, open blockers stop it, and the refusal names them. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { describeBoard, moved, refusedMove } from "../integration/advance/board.ts";
import { claim } from "../integration/leases/yard.ts";
import { restClient } from "../support/rest-client.ts";
import { startTestServer } from "../support/server.ts";

const AGENT = { id: "ann", workerId: "ann-1" };
const OLGA = { id: "olga", kind: "user" } as const;

describeBoard("an item whose blocker is open", (board) => {
  /** In work when its blocker opened, so that completing it is one step. */
  const blocked = async (parentId: string | null = null) => {
    const blocker = await board().plant({ title: "the blocker" });
    const item = await board().plant({ title: "the item", role: "work", parentId });
    await board().edge(blocker, item);
    return { blocker, item };
  };
  const named = (blocker: string) => ({
    errorCode: "dependency_blocked",
    error: expect.not.stringMatching(/closed|terminal already|not found|no item/) as string,
    blockers: [{ fromItemId: blocker, title: "the blocker", currentRole: "queue" }],
  });

  it.each(["start", "complete"])("is not finished by %s [S35]", async (trigger) => {
    const { blocker, item } = await blocked();
    expect(await refusedMove(board(), null, item, trigger)).toMatchObject(named(blocker));
    expect(await board().roles(item)).toEqual(["work"]);
    await moved(board(), null, item, "cancel");
  });

  it("is not finished by its holder, nor among others in a batch, nor before the next claim [S35]", async () => {
    const { blocker, item } = await blocked();
    const other = await board().plant();
    await claim(board(), AGENT, { itemId: item });
    const answer: unknown = await board().engine.call("advance_item", {
      actor: { id: "ann", kind: "subagent" },
      workerId: AGENT.workerId,
      requestId: randomUUID(),
      transitions: [
        { itemId: other, trigger: "complete" },
        { itemId: item, trigger: "complete" },
      ],
      claimNext: { selector: {} },
    });
    expect(answer).toMatchObject({
      results: [{ applied: true }, { applied: false, ...named(blocker) }],
      summary: { succeeded: 1, failed: 1 },
    });
    expect(answer).not.toHaveProperty("next");
  });

  it("is not finished with its tree, and neither is what is above it [S35]", async () => {
    const root = await board().plant({ title: "root" });
    const { blocker, item } = await blocked(root);
    const answer: unknown = await board().engine.call("complete_tree", { rootId: root, trigger: "complete" });
    expect(answer).toMatchObject({
      results: [
        { itemId: item, applied: false, ...named(blocker) },
        { itemId: root, applied: false, skipped: true },
      ],
      summary: { completed: 0 },
    });
    expect(await board().roles(item, root)).toEqual(["work", "queue"]);
  });

  it("is not finished by a cascade from its last child, which says what it waits for [S35]", async () => {
    const { item } = await blocked();
    const child = await board().plant({ parentId: item });
    expect((await moved(board(), null, child, "complete")).cascadeEvents).toMatchObject([
      { itemId: item, targetRole: "terminal", applied: false, dependencyBlocked: true },
    ]);
    expect(await board().roles(item)).toEqual(["work"]);
  });

  it("is not started by a claim either [S35]", async () => {
    const blocker = await board().plant({ title: "the blocker" });
    const item = await board().plant();
    await board().edge(blocker, item);
    await claim(board(), AGENT, { itemId: item, start: true });
    expect(await board().roles(item)).toEqual(["queue"]);
  });

  it("is finished by an operator with a reason, which is on record with what was set aside [S35]", async () => {
    const { item } = await blocked();
    const override = { override: true, reason: "the blocker was done elsewhere" };
    expect(await refusedMove(board(), AGENT, item, "complete", override)).toMatchObject({
      errorCode: "insufficient_capability",
    });
    const done = await moved(board(), null, item, "complete", { ...override, actor: OLGA });
    expect(done).toMatchObject({ newRole: "terminal", setAside: ["blockers"], summary: override.reason });
    const audit = board()
      .db.selectFrom("audit_log")
      .select(["agent", "data"])
      .where("item_id", "=", item)
      .where("action", "<>", "call");
    expect(await audit.execute()).toMatchObject([
      { agent: "olga", data: { setAside: ["blockers"], reason: override.reason } },
    ]);
  });

  it("an operator's override also ends the claim of whoever holds it [S35]", async () => {
    const { item } = await blocked();
    const { fence } = await claim(board(), AGENT, { itemId: item });
    await moved(board(), null, item, "complete", { override: true, reason: "done by hand", actor: OLGA });
    expect(await refusedMove(board(), AGENT, item, "complete", { fence })).toMatchObject({
      errorCode: "claim_lost",
    });
  });
});

describe("over REST", () => {
  it("it is refused with its blockers, and an operator may set them aside with a reason [S35]", async () => {
    const server = await startTestServer({ database: "pglite" });
    try {
      const rest = restClient(server);
      const make = async (title: string) => (await rest("POST /items", { body: { title } })).body.id;
      const [blocker, item] = [await make("the blocker"), await make("the item")];
      await rest("POST /dependencies", { body: { fromItemId: blocker, toItemId: item, type: "BLOCKS" } });
      const advance = (body: object) => rest(`POST /items/${item}/advance`, { body });
      const refused = await advance({ trigger: "complete" });
      expect([refused.status, refused.body]).toMatchObject([
        422,
        { code: "dependency_blocked", details: { blockers: [{ fromItemId: blocker }] } },
      ]);
      expect((await advance({ trigger: "complete", override: true })).status).toBe(400);
      const done = await advance({ trigger: "complete", override: true, reason: "done elsewhere" });
      expect([done.status, done.body]).toMatchObject([200, { newRole: "terminal" }]);
    } finally {
      await server.close();
    }
  });
});
