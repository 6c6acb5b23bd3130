/** A queue of a given size: 20 roots, leaves below them, priorities and complexities as they come, tags on one in a hundred. */
import { type Kysely, sql } from "kysely";
import type { Database } from "../../db/schema.ts";
import { unsearchable } from "../support/unsearchable.ts";

const ROOTS = 20;

export function plantQueue(db: Kysely<Database>, rows: number): Promise<void> {
  return unsearchable(db, () => plant(db, rows));
}

async function plant(db: Kysely<Database>, rows: number): Promise<void> {
  await sql`truncate items, item_state, attempts, dependencies, transitions, events, idempotency, trash, agents cascade`.execute(
    db,
  );
  await sql`insert into items (id, root_id, title, depth)
    select r.id, r.id, 'root ' || r.n, 0 from (select gen_random_uuid() as id, n from generate_series(1, ${ROOTS}) n) r`.execute(
    db,
  );
  await sql`insert into items (id, root_id, parent_id, ancestors, depth, title, priority, complexity, tags)
    select gen_random_uuid(), r.id, r.id, array[r.id], 1, 'leaf ' || n,
      (array['high', 'medium', 'low'])[1 + n % 3], 1 + n % 10, case when n % 100 = 0 then array['rare'] else array['common'] end
    from generate_series(1, ${rows}) n
    join (select id, row_number() over (order by id) as k from items where parent_id is null) r on r.k = 1 + n % ${ROOTS}`.execute(
    db,
  );
  await sql`insert into item_state (item_id, root_id, parent_id, ancestors, rank, priority, complexity, created_at, modified_at,
      role_changed_at, tags, needs, open_children)
    select i.id, i.root_id, i.parent_id, i.ancestors, muster_rank(i.priority, i.complexity), i.priority, i.complexity,
      i.created_at + (random() * 1000) * interval '1 millisecond', i.modified_at, i.created_at, i.tags, i.needs,
      (select count(*) from items c where c.parent_id = i.id)
    from items i`.execute(db);
  await sql.raw("vacuum analyze").execute(db);
}
