/** A hundred thousand items in the shapes that make a plan good or bad. */
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../../db/schema.ts";
import { unsearchable } from "../../support/unsearchable.ts";

export interface ManyItems {
  readonly roots: readonly string[];
  /** A feature of 900 items in the middle of the first root. */
  readonly feature: string;
  /** Has 10,000 children, and an open blocker. */
  readonly blockedParent: string;
  readonly blocker: string;
}

/**
 * Ten roots of 8,900 leaves each; the tag `rare` and the type `chore` on one leaf in a
 * hundred, `late` on the very last hundred of the ranking; 10,000 children of one blocked
 * item, urgent every one of them; and 1,000 finished items with the tag `done`.
 */
export function plantMany(db: Kysely<Database>): Promise<ManyItems> {
  return unsearchable(db, () => plant(db));
}

async function plant(db: Kysely<Database>): Promise<ManyItems> {
  const roots = Array.from({ length: 10 }, () => randomUUID()).toSorted();
  const [feature, blockedParent, blocker] = [randomUUID(), randomUUID(), randomUUID()];
  const first = roots[0] ?? "";
  await sql`insert into items (id, root_id, title) select r, r, 'root' from unnest(${roots}::uuid[]) r`.execute(
    db,
  );
  await sql`insert into items (id, root_id, parent_id, ancestors, depth, title, priority)
    select i, ${first}::uuid, ${first}::uuid, array[${first}::uuid], 1, 'middle', 'low'
    from unnest(${[feature, blockedParent, blocker]}::uuid[]) i`.execute(db);
  await sql`insert into items (id, root_id, parent_id, ancestors, depth, title, priority, complexity, tags, type, created_at)
    select gen_random_uuid(), r.id, case when f.inside then ${feature}::uuid else r.id end,
      case when f.inside then array[r.id, ${feature}::uuid] else array[r.id] end, case when f.inside then 2 else 1 end,
      'leaf', (array['high', 'medium', 'low'])[1 + n % 3], 1 + n % 10,
      case when n % 100 = 7 then array['rare', 'backend'] when n >= 8890 then array['late'] else array['backend'] end,
      case when n % 100 = 9 then 'chore' end,
      muster_now() - interval '1 day' + n * interval '1 second'
    from generate_series(1, 8900) n, unnest(${roots}::uuid[]) with ordinality as r(id, at),
      lateral (select r.at = 1 and n % 10 = 3 as inside) f`.execute(db);
  await sql`insert into items (id, root_id, parent_id, ancestors, depth, title, priority, created_at)
    select gen_random_uuid(), ${first}::uuid, ${blockedParent}::uuid, array[${first}::uuid, ${blockedParent}::uuid], 2,
      'held up', 'high', muster_now() - interval '2 days' from generate_series(1, 10000)`.execute(db);
  await sql`insert into items (id, root_id, parent_id, ancestors, depth, title, tags)
    select gen_random_uuid(), ${first}::uuid, ${first}::uuid, array[${first}::uuid], 1, 'finished', array['done']
    from generate_series(1, 1000)`.execute(db);
  await sql`insert into dependencies (id, from_item, to_item, type)
    values (gen_random_uuid(), ${blocker}, ${blockedParent}, 'BLOCKS')`.execute(db);
  await sql`insert into item_state (item_id, role, outcome, blockers, ancestor_blockers, open_children, root_id, parent_id,
      ancestors, rank, priority, complexity, created_at, modified_at, role_changed_at, type, tags, needs, assignee)
    select i.id, case when i.title = 'finished' then 'terminal' else 'queue' end,
      case when i.title = 'finished' then 'done' end, (i.id = ${blockedParent})::int,
      (i.parent_id is not distinct from ${blockedParent}::uuid)::int,
      case when i.title = 'root' or i.id in (${feature}::uuid, ${blockedParent}::uuid) then 1 else 0 end,
      i.root_id, i.parent_id, i.ancestors, muster_rank(i.priority, i.complexity), i.priority, i.complexity,
      i.created_at, i.modified_at, i.created_at, i.type, i.tags, i.needs, i.assignee
    from items i`.execute(db);
  await sql`analyze`.execute(db);
  return { roots, feature, blockedParent, blocker };
}
