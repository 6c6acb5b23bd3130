/** Edges that are drawn at the same time. Every test fails when `lockGraph` does nothing. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { meetAt } from "../items/interleaving.ts";
import { Workbench } from "../items/workbench.ts";

describe("two replicas draw the last two edges of a cycle", () => {
  let database: TestDatabase;
  let one: Workbench;
  let other: Workbench;
  beforeEach(async () => {
    database = await createTestDatabase({ kind: "pg" });
    one = new Workbench(database);
    other = new Workbench(await database.openAnother());
  });
  afterEach(async () => database?.close());

  const race = async (
    held: readonly string[],
    first: readonly [string, string],
    second: readonly [string, string],
  ) => {
    const answers = await meetAt(database, held, [
      () => one.draw([{ fromItemId: first[0], toItemId: first[1] }]),
      () => other.draw([{ fromItemId: second[0], toItemId: second[1] }]),
    ] as const);
    expect(answers.map((answer) => answer.created).toSorted((x, y) => x - y)).toEqual([0, 1]);
    expect(answers.flatMap((answer) => answer.failures ?? [])).toMatchObject([
      { errorCode: "cycle_detected" },
    ]);
  };

  it("in one tree: exactly one is refused, with the path [S31]", async () => {
    for (let round = 0; round < 4; round += 1) {
      const root = await one.item("root");
      const { items } = await one.createItems([{ title: "A" }, { title: "B" }, { title: "C" }], {
        parentId: root,
      });
      const [a = "", b = "", c = ""] = items.map((item) => item.id);
      await one.draw([{ fromItemId: a, toItemId: b }]);
      await race([c], [b, c], [c, a]);
    }
    expect(await one.drift()).toEqual([]);
  });

  it("between roots that share no named item: the roots that the check reaches are locked too [S31]", async () => {
    for (let round = 0; round < 4; round += 1) {
      const { items } = await one.createItems([1, 2, 3, 4].map((n) => ({ title: `root ${n}` })));
      const [r1 = "", r2 = "", r3 = "", r4 = ""] = items.map((item) => item.id);
      await one.draw([
        { fromItemId: r2, toItemId: r3 },
        { fromItemId: r4, toItemId: r1 },
      ]);
      await race([r2, r4], [r1, r2], [r3, r4]);
    }
    expect(await one.drift()).toEqual([]);
  });

  it("through containment: an edge into a parent and one out of its child [S31]", async () => {
    for (let round = 0; round < 4; round += 1) {
      const parent = await one.item("parent");
      const child = await one.item("child", { parentId: parent });
      const outside = await one.item("outside");
      await race([outside], [outside, parent], [child, outside]);
    }
    expect(await one.drift()).toEqual([]);
  });
});

describe("an edge is drawn while its blocker finishes", () => {
  // Fails when the blocker's row is read without its lock: drop "for no key update" from `world_lock`.
  it("counts the blocker once, or not at all, but never for ever", async () => {
    await using database = await createTestDatabase({ kind: "pg" });
    const one = new Workbench(database);
    const other = new Workbench(await database.openAnother());
    for (let round = 0; round < 6; round += 1) {
      const blocker = await one.item("blocker");
      const dependent = await one.item("dependent");
      const draw = () => one.draw([{ fromItemId: blocker, toItemId: dependent }]);
      const finish = () => other.advance(blocker, "complete");
      await meetAt(database, [blocker], round % 2 === 0 ? [draw, finish] : [finish, draw]);
      expect(await one.state(dependent)).toMatchObject({ blockers: 0 });
    }
    expect(await one.drift()).toEqual([]);
  });
});
