/** An operator's desk: a board of items, agents that work on them, and the calls of operators. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { sql } from "kysely";
import type { RefreshResult } from "../../../services/contract/operations/claim-item.ts";
import type { OperationName, OutputOf, RequestOf } from "../../../services/contract/registry.ts";
import { type Asking, asking } from "../../support/asking.ts";
import { describeEachDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";

export const olga = { id: "olga", kind: "user" } as const;

export interface Desk extends Asking {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  /** A call of an operator, with a reason. */
  operate<N extends OperationName>(
    name: N,
    input: Omit<RequestOf<N>, "actor" | "reason"> & { readonly reason?: string },
  ): Promise<OutputOf<N>>;
  /** One heartbeat of the session that `claim` uses. */
  beat(agent: string, itemId: string, fence: number): Promise<RefreshResult | undefined>;
}

/** Runs a suite per kind of database, on an empty board for each test. */
export function describeDesk(name: string, suite: (desk: () => Desk) => void): void {
  describeEachDatabase(name, (database) => {
    let desk: Desk | undefined;
    beforeAll(() => {
      desk = openDesk(database());
    });
    afterAll(async () => desk?.engine.close());
    beforeEach(async () => {
      await sql`truncate items, item_state, attempts, transitions, audit_log, agents, agent_drains, trash cascade`.execute(
        database().db,
      );
    });
    suite(() => {
      if (desk === undefined) throw new Error("The desk is there inside hooks and tests only.");
      return desk;
    });
  });
}

function openDesk(database: TestDatabase): Desk {
  const engine = createTestEngine(database);
  const asked = asking(engine);
  return {
    ...asked,
    database,
    engine,
    operate: async (name, input) => {
      const call: unknown = { reason: "the host is gone", actor: olga, ...input };
      return (await engine.call(name, call)) as OutputOf<typeof name>;
    },
    beat: async (agent, itemId, fence) => {
      const { refreshes } = await asked.ask("claim_item", {
        actor: worker(agent),
        workerId: `${agent}-session`,
        requestId: randomUUID(),
        refreshes: [{ itemId, fence }],
      });
      return refreshes[0];
    },
  };
}
