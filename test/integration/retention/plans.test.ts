/** How batches find what is old: none reads its table, whatever the table holds. */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHELVES } from "../../../db/stores/retention-shelves.ts";
import { clearingSql } from "../../../db/stores/retention-store.ts";
import { DEFAULT_RETENTION } from "../../../services/core/retention.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { explained } from "../queries/explained.ts";

/** More than a batch looks at in any way, with room for the pages of a heap. */
const HANDLED_MAX = 3_000;

describe("the batches of retention", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    await plant(database);
  }, 240_000);
  afterAll(() => database.close());

  it.each(SHELVES.map((shelf) => [shelf.name, shelf] as const))(
    "of %s look at a bounded part of it",
    async (_, shelf) => {
      const hours = shelf.window(DEFAULT_RETENTION);
      const plan = await explained(database.db, clearingSql(shelf), [hours, 0]);
      expect(plan.sequential).not.toContain(shelf.table);
      expect(plan.handled).toBeLessThanOrEqual(HANDLED_MAX);
    },
  );
});

/** Tens of thousands of rows a table, all of them as old as can be. */
async function plant({ db }: TestDatabase): Promise<void> {
  const rows = "generate_series(1, 60000) n";
  const age = "muster_now() - interval '2 years'";
  const statements = [
    `insert into events (type, at) select 'old', ${age} from ${rows}`,
    `insert into audit_log (action, at) select 'old', ${age} from ${rows}`,
    `insert into attempts (item_id, fence, agent, session, claimed_at, ended_at, end_reason)
     select gen_random_uuid(), 1, 'ada', 's', ${age}, ${age}, 'completed' from ${rows}`,
    `insert into idempotency (principal, key, element, operation, fingerprint, answer, created_at)
     select 'ada', gen_random_uuid(), 'c0', 'claim_item', 'f', '{}', ${age} from ${rows}`,
    `insert into trash (id, item_id, root_id, title, items_count, expires_at, snapshot)
     select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 't', 1, ${age}, '{}' from ${rows}`,
    `insert into transitions (item_id, root_id, from_role, to_role, trigger, at)
     select gen_random_uuid(), gen_random_uuid(), 'queue', 'work', 'start', ${age} from ${rows}`,
    `insert into resource_lease_history (item_id, key, mode, fence, acquired_at, released_at, release_reason)
     select gen_random_uuid(), 'k' || n, 'exclusive', 1, ${age}, ${age}, 'released' from ${rows}`,
    `insert into agents (agent, session, last_seen_at) select 'a' || n, 's', ${age} from ${rows}`,
    `insert into root_ends (root_id, at, environment) select gen_random_uuid(), ${age}, true from ${rows}`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
  await sql.raw("vacuum analyze").execute(db);
}
