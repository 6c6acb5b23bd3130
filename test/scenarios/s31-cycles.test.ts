/** Edges that would close a cycle: one after the other, through containment, and two at the same instant. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CreateDependenciesOutput } from "../../services/contract/operations/manage-dependencies.ts";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";
import { plantGraph } from "../support/fixtures.ts";

type Edge = readonly [from: string, to: string];

const ROUNDS = 20;

describeEachDatabase("edges that would close a cycle", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const draw = async (edge: Edge, type = "BLOCKS"): Promise<CreateDependenciesOutput> => {
    const dependencies = [{ fromItemId: edge[0], toItemId: edge[1], type }];
    return (await engine.call("manage_dependencies", {
      operation: "create",
      dependencies,
    })) as CreateDependenciesOutput;
  };
  const drawn = async (...edges: readonly Edge[]): Promise<void> => {
    for (const edge of edges) expect(await draw(edge)).toMatchObject({ created: 1, failed: 0 });
  };
  const plant = (...items: { id?: string; title: string; parentId?: string }[]): Promise<string[]> =>
    plantGraph(database().db, items, []);
  /** Refused, with the whole way round, in words as well as in ids. */
  const refusedAlong = (answer: CreateDependenciesOutput, path: readonly string[]): void => {
    expect(answer).toMatchObject({ created: 0, failures: [{ errorCode: "cycle_detected" }] });
    const [failure] = answer.failures ?? [];
    expect(failure?.details).toMatchObject({ path: path.map((id) => ({ id })) });
    for (const id of path) expect(failure?.error).toContain(id);
  };
  const edgesAmong = async (ids: readonly string[]): Promise<number> => {
    const rows = await database()
      .db.selectFrom("dependencies")
      .select("id")
      .where("from_item", "in", [...ids])
      .where("type", "=", "BLOCKS")
      .execute();
    return rows.length;
  };

  it("are refused with the path: A before B before C before A [S31]", async () => {
    const [a, b, c] = (await plant({ title: "A" }, { title: "B" }, { title: "C" })) as [
      string,
      string,
      string,
    ];
    await drawn([a, b], [b, c]);
    refusedAlong(await draw([c, a]), [c, a, b, c]);
    expect(await edgesAmong([a, b, c])).toBe(2);
  });

  it("are refused when part of the way is containment [S31]", async () => {
    const [epic, other] = (await plant({ title: "epic" }, { title: "other" })) as [string, string];
    const [step] = (await plant({ title: "step", parentId: epic })) as [string];
    await drawn([other, epic]);
    refusedAlong(await draw([step, other]), [step, other, epic, step]);
    refusedAlong(await draw([step, epic]), [step, epic, step]);
    expect(await edgesAmong([epic, other, step])).toBe(1);
  });

  it("at the same instant: exactly one of the last two is refused [S31]", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const ids = await plant({ title: "A" }, { title: "B" }, { title: "C" });
      const [a, b, c] = ids as [string, string, string];
      await drawn([a, b]);
      const answers = await Promise.all([draw([b, c]), draw([c, a])]);
      expect(answers.map(({ created }) => created).toSorted((one, other) => one - other)).toEqual([0, 1]);
      expect(answers.flatMap(({ failures }) => failures ?? [])).toMatchObject([
        { errorCode: "cycle_detected" },
      ]);
      expect(await edgesAmong(ids)).toBe(2);
    }
  });

  it("are not those that relate without blocking [S31]", async () => {
    const [a, b, c] = (await plant({ title: "A" }, { title: "B" }, { title: "C" })) as [
      string,
      string,
      string,
    ];
    await drawn([a, b]);
    expect(await draw([b, a], "RELATES_TO")).toMatchObject({ created: 1 });
    expect(await draw([c, a], "RELATES_TO")).toMatchObject({ created: 1 });
    await drawn([b, c]);
  });
});
