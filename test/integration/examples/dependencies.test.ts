/** The documented examples of `manage_dependencies`, `query_dependencies` and `get_blocked_items`. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return -- an example says itself which fields it shows */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { MusterError } from "../../../services/contract/errors.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { Desk, ID, TEXT } from "./desk.ts";

describeEachDatabase("the examples of dependencies", (database) => {
  let desk: Desk;
  let design: string;
  let implement: string;
  let test: string;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    design = await desk.item("Design API", { priority: "high" });
    implement = await desk.item("Implement API", {
      priority: "high",
      complexity: 5,
      summary: "Handle JWT validation",
      tags: "api",
    });
    test = await desk.item("Test API");
    return () => engine.close();
  });
  const manage = async (input: object) => await desk.call("manage_dependencies", input);
  const query = (input: object) => desk.call("query_dependencies", input);

  it("manage_dependencies: a batch with a threshold", async () => {
    const edge = { fromItemId: design, toItemId: implement, type: "BLOCKS", unblockAt: "terminal" };
    expect(await manage({ operation: "create", dependencies: [edge] })).toMatchObject({
      dependencies: [{ id: ID, ...edge }],
      created: 1,
    });
  });

  it("manage_dependencies: a chain, and no threshold where none was named", async () => {
    const answer = await manage({
      operation: "create",
      pattern: "linear",
      itemIds: [design, implement, test],
    });
    expect(answer).toMatchObject({
      dependencies: [
        { id: ID, fromItemId: design, toItemId: implement, type: "BLOCKS" },
        { id: ID, fromItemId: implement, toItemId: test, type: "BLOCKS" },
      ],
      created: 2,
    });
    for (const edge of answer.dependencies) expect(edge).not.toHaveProperty("unblockAt");
  });

  it("manage_dependencies: delete by relationship, and all from an item", async () => {
    await desk.blocks(design, implement);
    const between = { fromItemId: design, toItemId: implement };
    expect(await manage({ operation: "delete", ...between })).toMatchObject({ ...between, deleted: 1 });
    await desk.blocks(design, implement);
    await desk.blocks(implement, test);
    expect(await manage({ operation: "delete", fromItemId: implement, deleteAll: true })).toMatchObject({
      itemId: implement,
      deleted: 1,
    });
  });

  it("manage_dependencies: nothing of a batch that has an edge to nowhere", async () => {
    const dependencies = [
      { fromItemId: design, toItemId: implement },
      { fromItemId: randomUUID(), toItemId: test },
    ];
    expect(await manage({ operation: "create", dependencies })).toMatchObject({
      dependencies: [],
      created: 0,
      failed: 1,
      failures: [{ index: 1, error: TEXT }],
    });
  });

  it("manage_dependencies: malformed elements refuse the call, which names each place", async () => {
    const dependencies = [
      { fromItemId: design, toItemId: implement, type: "FOO" },
      { fromItemId: implement, toItemId: test },
      { fromItemId: "not-a-uuid", toItemId: test },
    ];
    const refused = await manage({ operation: "create", dependencies }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(MusterError);
    expect(String(refused)).toContain("dependencies[0].type");
    expect(String(refused)).toContain("dependencies[2].fromItemId");
  });

  it("query_dependencies: what blocks an item", async () => {
    await desk.blocks(design, implement, { unblockAt: "terminal" });
    expect(await query({ itemId: implement, direction: "incoming", includeItemInfo: true })).toMatchObject({
      dependencies: [
        {
          id: ID,
          fromItemId: design,
          toItemId: implement,
          type: "BLOCKS",
          unblockAt: "terminal",
          effectiveUnblockRole: "terminal",
          fromItem: { title: "Design API", role: "queue", priority: "high" },
          toItem: { title: "Implement API", role: "queue", priority: "high" },
        },
      ],
      counts: { incoming: 1, outgoing: 0, relatesTo: 0 },
    });
  });

  it("query_dependencies: the graph around an item", async () => {
    await desk.blocks(design, implement);
    expect((await query({ itemId: implement, neighborsOnly: false })).graph).toMatchObject({
      chain: [design, implement],
      depth: 1,
    });
  });

  it("query_dependencies: who points at an item, at all or with one type", async () => {
    await desk.blocks(design, implement);
    const related = { fromItemId: test, toItemId: implement, type: "RELATES_TO" };
    await manage({ operation: "create", dependencies: [related] });
    const all = await query({ operation: "backlinks", itemId: implement });
    expect(all.total).toBe(2);
    expect(all.backlinks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ fromItemId: design, type: "BLOCKS", fromTitle: "Design API" }),
        expect.objectContaining({ fromItemId: test, type: "RELATES_TO", fromTitle: "Test API" }),
      ]),
    );
    expect(await query({ operation: "backlinks", itemId: implement, type: "BLOCKS" })).toMatchObject({
      backlinks: [{ fromItemId: design, type: "BLOCKS", fromTitle: TEXT }],
      total: 1,
    });
  });

  it("get_blocked_items: what is blocked, and by what", async () => {
    await desk.blocks(design, implement, { unblockAt: "terminal" });
    const answer = await desk.call("get_blocked_items", { includeDetails: true, includeAncestors: true });
    expect(answer).toMatchObject({
      blockedItems: [
        {
          itemId: implement,
          title: "Implement API",
          role: "queue",
          priority: "high",
          complexity: 5,
          blockType: "dependency",
          blockedBy: [
            {
              itemId: design,
              title: "Design API",
              role: "queue",
              unblockAt: "terminal",
              effectiveUnblockRole: "terminal",
              satisfied: false,
            },
          ],
          blockerCount: 1,
          summary: "Handle JWT validation",
          tags: "api",
        },
      ],
      total: 1,
    });
  });
});
