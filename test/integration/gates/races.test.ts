/**
 * Gates that change while somebody passes them, at two replicas. Each test fails when the rows
 * that the decision judges are read without their lock: drop "for no key update" from
 * `world_lock`, or the lock that writing a note takes on its item.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { meetAt } from "../items/interleaving.ts";
import { Project } from "./gate-board.ts";

const CONFIG = `
work_item_schemas:
  task:
    notes:
      - { key: plan, role: queue, required: true }
`;

describe("two replicas at one gate", () => {
  let database: TestDatabase;
  let one: TestEngine;
  let other: TestEngine;
  let project: Project;
  beforeEach(async () => {
    database = await createTestDatabase({ kind: "pg" });
    one = createTestEngine(database);
    other = createTestEngine(await database.openAnother());
    project = await Project.open(one, CONFIG);
  });
  afterEach(async () => {
    await one?.close();
    await other?.close();
    await database?.close();
  });

  const move = async (
    engine: TestEngine,
    itemId: string,
    trigger: string,
  ): Promise<Record<string, unknown>> => {
    const { results } = (await engine.call("advance_item", { itemId, trigger })) as {
      results: Record<string, unknown>[];
    };
    return results[0] ?? {};
  };
  const edge = (
    engine: TestEngine,
    fromItemId: string,
    toItemId: string,
    more: object = {},
  ): Promise<unknown> =>
    engine.call("manage_dependencies", {
      operation: "create",
      dependencies: [{ fromItemId, toItemId, type: "BLOCKS", ...more }],
    });

  it("a required note that is deleted first stops the start, and one deleted after it does not", async () => {
    const remove = (itemId: string) => (): Promise<unknown> =>
      other.call("manage_notes", { operation: "delete", itemId, key: "plan" });
    const planned = async () => {
      const itemId = await project.item({ type: "task" });
      await project.note(itemId, "plan", "queue");
      return itemId;
    };
    const first = await planned();
    const [, refused] = await meetAt(database, [first], [remove(first), () => move(one, first, "start")]);
    expect(refused).toMatchObject({
      applied: false,
      errorCode: "gate_blocked",
      missingNotes: [{ key: "plan" }],
    });
    const second = await planned();
    const [started] = await meetAt(database, [second], [() => move(one, second, "start"), remove(second)]);
    expect(started).toMatchObject({ applied: true, newRole: "work" });
  });

  it("a blocker that is drawn first stops the completion, which names it [S35]", async () => {
    const [blocker, item] = [await project.item(), await project.item()];
    const [, refused] = await meetAt(
      database,
      [item],
      [() => edge(other, blocker, item), () => move(one, item, "complete")],
    );
    expect(refused).toMatchObject({
      applied: false,
      errorCode: "dependency_blocked",
      blockers: [{ fromItemId: blocker }],
    });
    expect(await project.roleOf(item)).toBe("queue");
  });

  it.each([
    ["complete", "cancel", true],
    ["cancel", "complete", false],
  ])(
    "a blocker that one replica would %s and the other %s ends once, and what waits follows it [S33]",
    async (first, second, freed) => {
      const [blocker, item] = [await project.item(), await project.item()];
      await edge(one, blocker, item, { onCancelled: "hold" });
      const [won, lost] = await meetAt(
        database,
        [blocker],
        [() => move(one, blocker, first), () => move(other, blocker, second)],
      );
      expect([won?.["applied"], lost]).toMatchObject([
        true,
        { applied: false, errorCode: "invalid_transition" },
      ]);
      expect(await move(other, item, "start")).toMatchObject(
        freed ? { applied: true } : { applied: false, errorCode: "dependency_blocked" },
      );
    },
  );
});
