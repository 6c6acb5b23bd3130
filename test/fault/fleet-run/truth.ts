/** What the tables say, read past all of Muster's own code. */
import type { Client } from "pg";

/** Everything that is stored of one item, as text: equal before and after means that nothing changed. */
export async function storedOf(database: Client, itemId: string): Promise<string> {
  const { rows } = await database.query<{ stored: unknown }>(
    `select jsonb_build_object(
       'item', (select to_jsonb(i) from items i where i.id = $1),
       'state', (select to_jsonb(s) from item_state s where s.item_id = $1),
       'attempts', (select jsonb_agg(to_jsonb(a) order by a.fence) from attempts a where a.item_id = $1),
       'edges', (select jsonb_agg(to_jsonb(d) order by d.id) from dependencies d where $1 in (d.from_item, d.to_item)),
       'transitions', (select count(*) from transitions t where t.item_id = $1),
       'children', (select count(*) from items c where c.parent_id = $1),
       'trash', (select count(*) from trash t where t.item_id = $1)) as stored`,
    [itemId],
  );
  return JSON.stringify(rows[0]?.stored);
}

export interface StoredEdge {
  readonly dependencyId: string;
  readonly fromItemId: string;
  readonly toItemId: string;
}

/** Any edge of an item. */
export async function edgeOf(database: Client, itemId: string): Promise<StoredEdge> {
  const { rows } = await database.query<StoredEdge>(
    `select id as "dependencyId", from_item as "fromItemId", to_item as "toItemId"
     from dependencies where $1 in (from_item, to_item) order by id limit 1`,
    [itemId],
  );
  const [edge] = rows;
  if (edge === undefined) throw new Error(`${itemId} has no edge.`);
  return edge;
}

/** The fence of each item, by id. */
export async function fencesOf(
  database: Client,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.query<{ item_id: string; fence: string }>(
    "select item_id, fence from item_state where item_id = any($1)",
    [itemIds],
  );
  return new Map(rows.map((row) => [row.item_id, Number(row.fence)]));
}

export interface StoredAttempt {
  readonly itemId: string;
  readonly fence: number;
  readonly agent: string;
  readonly endReason: string | null;
}

export async function allAttempts(database: Client): Promise<readonly StoredAttempt[]> {
  const { rows } = await database.query<{
    item_id: string;
    fence: string;
    agent: string;
    end_reason: string | null;
  }>("select item_id, fence, agent, end_reason from attempts order by item_id, fence");
  return rows.map((row) => ({
    itemId: row.item_id,
    fence: Number(row.fence),
    agent: row.agent,
    endReason: row.end_reason,
  }));
}

/** Items that are not done, or that somebody still holds. */
export async function unfinished(database: Client): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await database.query<Record<string, unknown>>(
    `select i.title, s.role, s.outcome, s.dead, s.agent, s.blockers, s.ancestor_blockers, s.open_children
     from item_state s join items i on i.id = s.item_id
     where s.role <> 'terminal' or s.outcome is distinct from 'done' or s.agent is not null`,
  );
  return rows;
}
