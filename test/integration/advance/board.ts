/** Items, an engine with the schemas of `policies.ts`, and transitions in the words of a test. */
import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { afterAll, beforeAll } from "vitest";
import type { Database } from "../../../db/schema.ts";
import type {
  AdvanceItemOutput,
  TransitionApplied,
  TransitionRefused,
} from "../../../services/contract/operations/advance-item.ts";
import { describeEachDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { type ItemFixture, plantEdge, plantItem } from "../../support/fixtures.ts";
import { testPolicies } from "../../support/policies.ts";
import type { Who } from "../claims/calls.ts";

export interface Board {
  readonly db: Kysely<Database>;
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  plant(item?: ItemFixture): Promise<string>;
  edge(from: string, to: string, edge?: Parameters<typeof plantEdge>[3]): Promise<void>;
  /** Roles of items, in the order asked for. */
  roles(...ids: readonly string[]): Promise<string[]>;
  /** What the audit says of an item: `trigger from>to by`. */
  audit(id: string): Promise<string[]>;
}

/** Runs a suite per kind of database, on a board of its own. */
export function describeBoard(name: string, suite: (board: () => Board) => void): void {
  describeEachDatabase(name, (database) => {
    let board: Board | undefined;
    beforeAll(() => {
      board = openBoard(database());
    });
    afterAll(async () => board?.engine.close());
    suite(() => {
      if (board === undefined) throw new Error("The board is there inside hooks and tests only.");
      return board;
    });
  });
}

export function openBoard(database: TestDatabase): Board {
  const { db } = database;
  return {
    db,
    database,
    engine: createTestEngine(database, { policyOf: testPolicies }),
    plant: (item) => plantItem(db, item),
    edge: (from, to, edge) => plantEdge(db, from, to, edge),
    async roles(...ids) {
      const rows = await db
        .selectFrom("item_state")
        .select(["item_id", "role"])
        .where("item_id", "in", ids)
        .execute();
      return ids.map((id) => rows.find((row) => row.item_id === id)?.role ?? "absent");
    },
    async audit(id) {
      const rows = await db
        .selectFrom("transitions")
        .selectAll()
        .where("item_id", "=", id)
        .orderBy("id")
        .execute();
      return rows.map((row) => `${row.trigger} ${row.from_role}>${row.to_role} ${row.agent ?? "nobody"}`);
    },
  };
}

/** One whole call of `advance_item`; nobody in particular unless it says who. */
export async function advanceCall(
  board: Pick<Board, "engine">,
  who: Who | null,
  call: object,
): Promise<AdvanceItemOutput> {
  const by = who === null ? {} : { actor: worker(who.id), workerId: who.workerId };
  return (await board.engine.call("advance_item", { ...by, ...call })) as AdvanceItemOutput;
}

type Extra = Readonly<Record<string, unknown>>;

/** One transition that must apply. */
export async function moved(
  board: Pick<Board, "engine">,
  who: Who | null,
  itemId: string,
  trigger: string,
  extra: Extra = {},
): Promise<TransitionApplied> {
  const [result] = (await advanceCall(board, who, { transitions: [{ itemId, trigger, ...extra }] })).results;
  if (result?.applied !== true) throw new Error(`not applied: ${JSON.stringify(result)}`);
  return result;
}

/** One transition that must be refused. */
export async function refusedMove(
  board: Pick<Board, "engine">,
  who: Who | null,
  itemId: string,
  trigger: string,
  extra: Extra = {},
): Promise<TransitionRefused> {
  const [result] = (await advanceCall(board, who, { transitions: [{ itemId, trigger, ...extra }] })).results;
  if (result?.applied !== false) throw new Error(`applied after all: ${JSON.stringify(result)}`);
  return result;
}

/** A requestId of one's own. */
export function key(): string {
  return randomUUID();
}
