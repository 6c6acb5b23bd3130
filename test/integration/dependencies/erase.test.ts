import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, key } from "../items/workbench.ts";

describeEachDatabase("erasing dependencies", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });

  it("erases by id, by both ends and all of one side, and names whom that frees", async () => {
    const a = await bench.item("A");
    const b = await bench.item("B");
    const below = await bench.item("below B", { parentId: b });
    const c = await bench.item("C");
    const draw = () =>
      bench.draw([
        { fromItemId: a, toItemId: b },
        { fromItemId: a, toItemId: c },
        { fromItemId: b, toItemId: c },
      ]);
    const [first] = (await draw()).dependencies;
    expect(await bench.erase({ dependencyId: first?.id })).toEqual({
      deleted: 1,
      freedItems: [{ itemId: b, title: "B" }],
    });
    expect(await bench.state(below)).toMatchObject({ ancestor_blockers: 0 });
    expect(await bench.erase({ fromItemId: a, toItemId: c })).toEqual({
      fromItemId: a,
      toItemId: c,
      deleted: 1,
    });
    expect(await bench.erase({ toItemId: c, deleteAll: true })).toEqual({
      itemId: c,
      deleted: 1,
      freedItems: [{ itemId: c, title: "C" }],
    });
    await draw();
    expect(await bench.erase({ fromItemId: a, deleteAll: true })).toMatchObject({ deleted: 2 });
    expect(await bench.drift()).toEqual([]);
  });

  it("says when there is nothing to erase", async () => {
    const [a, b] = [await bench.item("A"), await bench.item("B")];
    await expect(bench.erase({ dependencyId: key() })).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    await expect(bench.erase({ fromItemId: a, toItemId: b })).rejects.toMatchObject({
      code: "RESOURCE_NOT_FOUND",
    });
    expect(await bench.erase({ fromItemId: a, deleteAll: true })).toEqual({ itemId: a, deleted: 0 });
  });

  it("finds a restated edge, and a relation from either end", async () => {
    const [a, b] = [await bench.item("A"), await bench.item("B")];
    await bench.draw([
      { fromItemId: a, toItemId: b },
      { fromItemId: a, toItemId: b, type: "RELATES_TO" },
    ]);
    expect(await bench.erase({ fromItemId: b, toItemId: a, type: "RELATES_TO" })).toMatchObject({
      deleted: 1,
    });
    expect(await bench.erase({ fromItemId: b, toItemId: a, type: "IS_BLOCKED_BY" })).toMatchObject({
      deleted: 1,
    });
    expect((await bench.edges()).filter((edge) => [a, b].includes(edge.from))).toEqual([]);
  });

  it("replays [B54]", async () => {
    const [a, b] = [await bench.item("A"), await bench.item("B")];
    await bench.draw([{ fromItemId: a, toItemId: b }]);
    const call = { fromItemId: a, toItemId: b, requestId: key() };
    const first = await bench.erase(call);
    expect(await bench.erase(call)).toEqual({ ...first, replayed: true });
  });
});
