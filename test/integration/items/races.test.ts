/**
 * Races that Postgres' locks decide. Two replicas meet at a row that a third transaction
 * holds, in both orders; each test names the lock without which it fails.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { meetAt } from "./interleaving.ts";
import { Workbench, actor, key } from "./workbench.ts";

describe("two replicas write at once", () => {
  let database: TestDatabase;
  let one: Workbench;
  let other: Workbench;
  let engine: TestEngine;
  beforeEach(async () => {
    database = await createTestDatabase({ kind: "pg" });
    const replica = await database.openAnother();
    one = new Workbench(database);
    other = new Workbench(replica);
    engine = createTestEngine(replica);
  });
  afterEach(async () => {
    await engine?.close();
    await database?.close();
  });

  /** Both orders of two calls, several times over. */
  const bothOrders = async (round: (reversed: boolean) => Promise<void>): Promise<void> => {
    for (let n = 0; n < 6; n += 1) await round(n % 2 === 1);
  };

  // Fails when the parent's row is read without its lock: drop "for no key update" from `world_lock`.
  it("an item is created while the last child closes its parent: never a live child under a closed parent [B32]", async () => {
    const seen = new Set<string>();
    await bothOrders(async (reversed) => {
      const parent = await one.item("parent");
      const child = await one.item("child", { parentId: parent });
      const create = () => one.createItems([{ title: "new", parentId: parent }]);
      const close = () => other.advance(child, "complete");
      const calls = [create, close] as const;
      const answers = await meetAt(database, [parent], reversed ? [close, create] : calls);
      const created = answers.find((answer) => "created" in answer);
      const { role, open_children: open } = await one.state(parent);
      expect({ role, open }).toEqual(
        created?.["created"] === 1 ? { role: "queue", open: 1 } : { role: "terminal", open: 0 },
      );
      seen.add(role);
    });
    expect([...seen].toSorted()).toEqual(["queue", "terminal"]);
    expect(await one.drift()).toEqual([]);
  });

  // Fails when the subtree is not looked at again under its locks: drop the check of `world_grown`.
  it("an item is created below a container that is just being blocked: it counts its blocked ancestor", async () => {
    await bothOrders(async (reversed) => {
      const blocker = await one.item("blocker");
      const container = await one.item("container");
      const parent = await one.item("parent", { parentId: container });
      await one.draw([{ fromItemId: blocker, toItemId: container }]);
      await one.advance(blocker, "complete");
      const create = () => one.createItems([{ title: "new", parentId: parent }]);
      const block = () => other.advance(blocker, "reopen");
      await meetAt(database, [parent], reversed ? [block, create] : [create, block]);
      expect(await one.drift()).toEqual([]);
    });
  });

  // Either of two locks is enough here, since each move locks the subtree that the other moves
  // into: fails when the graph's lock is dropped together with "for no key update" of `world_lock`.
  it("two items are moved under each other: one move is refused, no cycle [B77]", async () => {
    await bothOrders(async (reversed) => {
      const [a, b] = [await one.item("a"), await one.item("b")];
      const [belowA, belowB] = [
        await one.item("below a", { parentId: a }),
        await one.item("below b", { parentId: b }),
      ];
      const first = () => one.updateItems([{ itemId: a, parentId: belowB }]);
      const second = () => other.updateItems([{ itemId: b, parentId: belowA }]);
      const answers = await meetAt(database, [a, b], reversed ? [second, first] : [first, second]);
      expect(answers.map((answer) => answer.updated).toSorted((x, y) => x - y)).toEqual([0, 1]);
      expect(answers.flatMap((answer) => answer.failures ?? [])).toMatchObject([
        { errorCode: "cycle_detected" },
      ]);
      expect(await one.drift()).toEqual([]);
    });
  });

  // Fails when `lockGraph` does nothing: both checks see the graph without the other's change.
  it("a move and an edge close a cycle together: one is refused [S31]", async () => {
    await bothOrders(async (reversed) => {
      const [item, between, parent] = [
        await one.item("item"),
        await one.item("between"),
        await one.item("parent"),
      ];
      await one.draw([{ fromItemId: item, toItemId: between }]);
      const move = () => one.updateItems([{ itemId: item, parentId: parent }]);
      const draw = () => other.draw([{ fromItemId: between, toItemId: parent }]);
      const answers = await meetAt(database, [parent], reversed ? [draw, move] : [move, draw]);
      expect(answers.flatMap((answer) => answer.failures ?? [])).toMatchObject([
        { errorCode: "cycle_detected" },
      ]);
    });
    expect(await one.drift()).toEqual([]);
  });

  // Fails when delete reads the rows of its subtree without their lock: drop "for no key update" from `world_lock`.
  it("an item is deleted while it is claimed: never both", async () => {
    const outcomes = new Set<string>();
    await bothOrders(async (reversed) => {
      const item = await one.item("wanted");
      const remove = async () => (await one.deleteItems([item])).deleted;
      const claim = async (): Promise<string> => {
        const output = (await engine.call("claim_item", {
          actor: worker("ann"),
          workerId: key(),
          requestId: key(),
          claims: [{ itemId: item }],
        })) as { claims: { outcome: string }[] };
        return output.claims[0]?.outcome ?? "";
      };
      const answers = await meetAt(database, [item], reversed ? [claim, remove] : [remove, claim]);
      const [deleted, outcome] = reversed ? [answers[1], answers[0]] : answers;
      expect(outcome).toBe(deleted === 1 ? "not_found" : "success");
      expect(await one.exists(item)).toBe(deleted === 0);
      outcomes.add(String(outcome));
    });
    expect([...outcomes].toSorted()).toEqual(["not_found", "success"]);
  });

  // Fails without "for no key update" in `world_lock`: the transition is reported as applied to an item that is gone.
  it("a blocker is deleted while it is finished: its dependent is freed once, and a finish that comes late is told", async () => {
    await bothOrders(async (reversed) => {
      const parent = await one.item("parent");
      const blocker = await one.item("blocker", { parentId: parent });
      const dependent = await one.item("dependent");
      const second = await one.item("second blocker");
      await one.draw([
        { fromItemId: blocker, toItemId: dependent },
        { fromItemId: second, toItemId: dependent },
      ]);
      const remove = () => one.deleteItems([parent], { recursive: true });
      const finish = () => other.advance(blocker, "complete");
      const answers = await meetAt(database, [blocker], reversed ? [finish, remove] : [remove, finish]);
      const finished = answers.find((answer) => "applied" in answer);
      expect(finished).toMatchObject({
        applied: reversed,
        ...(reversed ? {} : { errorCode: "item_not_found" }),
      });
      expect(await one.exists(blocker)).toBe(false);
      expect(await one.state(dependent)).toMatchObject({ blockers: 1 });
    });
    expect(await one.drift()).toEqual([]);
  });

  // Fails without "for no key update" in `world_lock`: one of the two counts is lost, and the dependent waits for ever.
  it("one blocker is deleted while the other is finished: the dependent is free", async () => {
    await bothOrders(async (reversed) => {
      const [first, second] = [await one.item("first blocker"), await one.item("second blocker")];
      const dependent = await one.item("dependent");
      await one.draw([
        { fromItemId: first, toItemId: dependent },
        { fromItemId: second, toItemId: dependent },
      ]);
      const remove = () => one.deleteItems([first]);
      const finish = () => other.advance(second, "complete");
      await meetAt(database, [dependent], reversed ? [finish, remove] : [remove, finish]);
      expect(await one.state(dependent)).toMatchObject({ blockers: 0 });
    });
    expect(await one.drift()).toEqual([]);
  });

  // Fails without "for no key update" in `world_lock`: the parent counts an open child that is gone.
  it("one child is deleted while the other is finished: their parent closes", async () => {
    await bothOrders(async (reversed) => {
      const parent = await one.item("parent");
      const [kept, removed] = [
        await one.item("kept", { parentId: parent }),
        await one.item("removed", { parentId: parent }),
      ];
      const remove = () => one.deleteItems([removed]);
      const finish = () => other.advance(kept, "complete");
      await meetAt(database, [parent], reversed ? [finish, remove] : [remove, finish]);
      expect(await one.state(parent)).toMatchObject({ role: "terminal", outcome: "done", open_children: 0 });
    });
    expect(await one.drift()).toEqual([]);
  });

  // Fails when the fence is judged on an unlocked row: drop "for no key update" from `world_lock`.
  it("a displaced holder's edit was already on its way: it is refused", async () => {
    for (let n = 0; n < 3; n += 1) {
      const item = await one.item("mine");
      const fence = await one.claim(item, { agent: "ann", session: "s1" });
      const displace = () => other.expire(item);
      const edit = () =>
        one.updateItems([{ itemId: item, title: "late", fence }], { actor: actor("ann"), workerId: "s1" });
      const [, late] = await meetAt(database, [item], [displace, edit] as const);
      expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }]);
      expect(await one.content(item)).toMatchObject({ title: "mine" });
    }
  });

  // Fails when the tenures above are not locked: let `withTenuresAbove` answer its items only.
  it("the holder of a container was displaced while its edit of a child was on its way: it is refused", async () => {
    const container = await one.item("container");
    const child = await one.item("child", { parentId: container });
    await one.claim(container, { agent: "ann", session: "s1" });
    const who = { actor: actor("ann"), workerId: "s1" };
    expect(await one.updateItems([{ itemId: child, title: "in time" }], who)).toMatchObject({ updated: 1 });
    const displace = () => other.expire(container);
    const edit = () => one.updateItems([{ itemId: child, title: "late" }], who);
    const create = () => one.createItems([{ title: "late", parentId: child }], who);
    const [, edited, created] = await meetAt(database, [container], [displace, edit, create] as const);
    expect(edited.failures).toMatchObject([{ errorCode: "claim_lost" }]);
    expect(created.failures).toMatchObject([{ errorCode: "claim_lost" }]);
    expect(await one.content(child)).toMatchObject({ title: "in time" });
  });

  // Fails when `updateItem` writes every column instead of the given ones, or versions are read without the lock.
  it("two edits of one item: different fields both stay, a field that both expected once is won once [S23]", async () => {
    const item = await one.item("edited");
    for (let round = 0; round < 50; round += 1) {
      const { version } = await one.content(item);
      const edits = await Promise.all([
        one.updateItems([{ itemId: item, title: `title ${round}` }]),
        other.updateItems([{ itemId: item, summary: `summary ${round}` }]),
      ]);
      expect(edits.map((edit) => edit.updated)).toEqual([1, 1]);
      expect(await one.content(item)).toMatchObject({
        title: `title ${round}`,
        summary: `summary ${round}`,
        version: Number(version) + 2,
      });
      const expectedVersion = Number(version) + 2;
      const same = await Promise.all([
        one.updateItems([{ itemId: item, title: "one", expectedVersion }]),
        other.updateItems([{ itemId: item, title: "other", expectedVersion }]),
      ]);
      expect(same.map((edit) => edit.updated).toSorted((x, y) => x - y)).toEqual([0, 1]);
      expect(same.flatMap((edit) => edit.failures ?? [])).toMatchObject([{ errorCode: "version_conflict" }]);
    }
  });

  it("two calls with one requestId arrive at two replicas: one makes the item, the other replays it [P-25] [B58]", async () => {
    for (let round = 0; round < 20; round += 1) {
      const call = [[{ title: `once ${round}` }], { requestId: key() }] as const;
      const [first, second] = await Promise.all([one.createItems(...call), other.createItems(...call)]);
      expect(first.items[0]?.id).toBe(second.items[0]?.id);
      expect([first.items[0]?.replayed, second.items[0]?.replayed].filter(Boolean)).toEqual([true]);
    }
  });
});
