/** An agent plans anew and clears away what is there, while some of it is worked on and some is done. */
import { expect, it } from "vitest";
import { agent, granted, release } from "../integration/claims/calls.ts";
import { describeEachWay } from "../integration/claims/engines.ts";
import { makeItem, read, write } from "../integration/notes/notebook.ts";
import { worker } from "../support/engine.ts";

const ANN = agent("ann");

interface Deleted {
  readonly deleted: number;
  readonly failures?: readonly { readonly errorCode: string }[];
  readonly trash: readonly { readonly trashId: string }[];
}

describeEachWay("clearing away a plan", (bench) => {
  it("is refused while anybody works below it, and can be undone with every text otherwise [S25]", async () => {
    const { engine } = bench();
    const root = await makeItem(engine, { title: "old plan" });
    const done = await makeItem(engine, { title: "done", parentId: root });
    const held = await makeItem(engine, { title: "held", parentId: root });
    await write(engine, { itemId: done, key: "result", role: "work", body: "took a day" });
    await engine.call("advance_item", { itemId: done, trigger: "complete", actor: worker("ben") });
    await granted(engine, ANN, { itemId: held });
    const clear = async (): Promise<Deleted> =>
      (await engine.call("manage_items", {
        operation: "delete",
        itemIds: [root],
        recursive: true,
        actor: worker("planner"),
      })) as Deleted;

    expect(await clear()).toMatchObject({ deleted: 0, failures: [{ errorCode: "item_held" }] });
    expect(await read(engine, done, "result")).toMatchObject({ body: "took a day" });

    await release(engine, ANN, { itemId: held });
    const cleared = await clear();
    expect(cleared).toMatchObject({ deleted: 3 });
    await engine.call("manage_items", { operation: "restore", trashIds: [cleared.trash[0]?.trashId] });
    expect(await read(engine, done, "result")).toMatchObject({ body: "took a day", version: 1 });
    expect(await engine.call("query_items", { operation: "get", itemId: done })).toMatchObject({
      role: "terminal",
      parentId: root,
    });
  });
});
