import * as fc from "fast-check";
import { CompiledQuery, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimableRow, offeredTo, Parameters } from "../../../db/stores/readiness-sql.ts";
import { STATE_COLUMNS, type StateRow, toItemState } from "../../../db/stores/state-row.ts";
import { type Asker, findObstacles, type Offer } from "../../../services/core/readiness.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { plantGraph } from "../../support/fixtures.ts";
import { ASKERS, randomGraph } from "../../support/random-graph.ts";

const OFFERS: readonly Offer[] = [
  { roles: ["queue"], containers: false, startable: false },
  { roles: ["queue", "work", "review"], containers: true, startable: true },
  { roles: ["review"], containers: true, startable: false },
  { roles: ["work"], containers: false, startable: false },
];

describe("readiness in SQL", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pglite" });
  });
  afterAll(() => database.close());

  it("says of every item of 300 random graphs what the pure function says", async () => {
    await fc.assert(
      fc.asyncProperty(randomGraph(12), fc.nat(11), fc.nat(11), async (graph, gated, reviewed) => {
        await sql`truncate items cascade`.execute(database.db);
        await plantGraph(database.db, graph.items, graph.edges);
        const gatedId = graph.items[gated % graph.items.length]?.id;
        await sql`update item_state set start_gate_open = false where item_id = ${gatedId}`.execute(
          database.db,
        );
        const reviewedId = graph.items[reviewed % graph.items.length]?.id;
        await sql`update item_state set review_excludes = ${ASKERS.flatMap(({ agent }) => agent ?? []).slice(0, 1)}
          where item_id = ${reviewedId}`.execute(database.db);
        const { rows } = await sql<StateRow & { now: Date }>`
          select ${sql.raw(STATE_COLUMNS)}, muster_now() as now from item_state s`.execute(database.db);
        for (const asker of ASKERS) {
          for (const offer of OFFERS) {
            expect(await offeredBySql(asker, offer)).toEqual(offeredByFunction(rows, asker, offer));
          }
        }
      }),
      { numRuns: 300 },
    );
  }, 180_000);

  async function offeredBySql(asker: Asker, offer: Offer): Promise<string[]> {
    const parameters = new Parameters();
    const rows = offer.roles.map((role) => `(${claimableRow(role, offer.containers)})`).join(" or ");
    const text = `select s.item_id from item_state s where (${rows}) and ${offeredTo(asker, offer.startable, parameters)}`;
    const found = await database.db.executeQuery<{ item_id: string }>(
      CompiledQuery.raw(text, parameters.values),
    );
    return found.rows.map((row) => row.item_id).toSorted();
  }
});

function offeredByFunction(
  rows: readonly (StateRow & { now: Date })[],
  asker: Asker,
  offer: Offer,
): string[] {
  const states = rows.map(toItemState);
  const now = rows[0]?.now.getTime() ?? 0;
  const offered = states.filter((item) => {
    const heldAncestors = states.flatMap(({ id, claim }) =>
      claim !== null && item.ancestors.includes(id)
        ? [{ agent: claim.agent, expiresAt: claim.expiresAt }]
        : [],
    );
    return findObstacles({ item, heldAncestors }, asker, offer, now).length === 0;
  });
  return offered.map((item) => item.id).toSorted();
}
