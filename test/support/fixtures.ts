/**
 * Plants items and edges as they would stand after a history that is beside a test's point.
 * Counters are never stated: they are worked out from the rows afterwards, in SQL, so that a
 * fixture cannot describe a graph that the engine could not have made.
 */
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../db/schema.ts";
import { recountItems } from "../../db/stores/recount-store.ts";
import type { Outcome, Priority, Role } from "../../services/core/roles.ts";

export interface PlantedClaim {
  readonly agent: string;
  readonly session?: string;
  readonly ttlSeconds?: number;
}

export interface ItemFixture {
  readonly id?: string;
  readonly title?: string;
  readonly parentId?: string | null;
  readonly role?: Role;
  readonly previousRole?: "queue" | "work" | "review" | null;
  /** Of a terminal item; `done` when it does not say. */
  readonly outcome?: Outcome;
  readonly statusLabel?: string | null;
  readonly summary?: string;
  readonly description?: string | null;
  readonly priority?: Priority;
  readonly complexity?: number | null;
  readonly type?: string | null;
  readonly tags?: readonly string[];
  readonly needs?: readonly string[];
  readonly assignee?: string | null;
  readonly dead?: boolean;
  readonly attempts?: number;
  /** From now, in seconds: positive is not yet, negative has been. */
  readonly availableIn?: number | null;
  /** From now, in seconds; order of planting when it does not say. */
  readonly createdAgo?: number;
  readonly claim?: PlantedClaim | null;
}

export interface EdgeFixture {
  readonly from: string;
  readonly to: string;
  readonly unblockAt?: "queue" | "work" | "review" | "terminal" | null;
  readonly onCancelled?: "hold" | "release" | null;
}

let planted = 0;

/** One item; its counters and those around it are right afterwards. Returns its id. */
export async function plantItem(db: Kysely<Database>, item: ItemFixture = {}): Promise<string> {
  const [id] = await plantGraph(db, [item], []);
  if (id === undefined) throw new Error("nothing was planted");
  return id;
}

/** `from` blocks `to`; the counters of `to` and of everything below it are right afterwards. */
export async function plantEdge(
  db: Kysely<Database>,
  from: string,
  to: string,
  edge: Omit<EdgeFixture, "from" | "to"> = {},
): Promise<void> {
  await plantGraph(db, [], [{ ...edge, from, to }]);
}

/** Many at once, parents before children. Returns the ids by position. */
export async function plantGraph(
  db: Kysely<Database>,
  items: readonly ItemFixture[],
  edges: readonly EdgeFixture[],
): Promise<string[]> {
  const rows = items.map((item) => ({ ...item, id: item.id ?? randomUUID() }));
  await insertItems(db, await placed(db, rows));
  if (edges.length > 0) await insertEdges(db, edges);
  // An edge that does not say so holds when its blocker is cancelled.
  await recountItems(db, null, "hold");
  return rows.map((row) => row.id);
}

interface Placed extends ItemFixture {
  readonly id: string;
  readonly ancestors: readonly string[];
}

async function placed(
  db: Kysely<Database>,
  rows: readonly (ItemFixture & { id: string })[],
): Promise<Placed[]> {
  const inside = new Set(rows.map((row) => row.id));
  const outside = [
    ...new Set(rows.flatMap((row) => (row.parentId && !inside.has(row.parentId) ? [row.parentId] : []))),
  ];
  const paths = new Map<string, readonly string[]>();
  if (outside.length > 0) {
    const known = await db
      .selectFrom("items")
      .select(["id", "ancestors"])
      .where("id", "in", outside)
      .execute();
    for (const row of known) paths.set(row.id, [...row.ancestors, row.id]);
  }
  return rows.map((row) => {
    const ancestors = row.parentId ? paths.get(row.parentId) : [];
    if (ancestors === undefined) throw new Error("a parent must be planted before its children");
    paths.set(row.id, [...ancestors, row.id]);
    return { ...row, ancestors };
  });
}

async function insertItems(db: Kysely<Database>, rows: readonly Placed[]): Promise<void> {
  if (rows.length === 0) return;
  const records = JSON.stringify(rows.map(toRecord));
  await sql`
    insert into items (id, root_id, parent_id, ancestors, depth, title, summary, description, type, tags, needs,
      assignee, priority, complexity, created_at, modified_at)
    select c.id, c.root_id, c.parent_id, c.ancestors, cardinality(c.ancestors), c.title, c.summary, c.description,
      c.type, c.tags, c.needs, c.assignee, c.priority, c.complexity, muster_now() - c.age, muster_now() - c.age
    from jsonb_to_recordset(${records}::jsonb) as c(id uuid, root_id uuid, parent_id uuid, ancestors uuid[], title text,
      summary text, description text, type text, tags text[], needs text[], assignee text, priority text,
      complexity smallint, age interval)`.execute(db);
  await sql`
    insert into item_state (item_id, role, previous_role, outcome, status_label, dead, attempts, available_at,
      agent, session, fence, claimed_at, original_claimed_at, expires_at, ttl_ms,
      root_id, parent_id, ancestors, rank, priority, complexity, created_at, modified_at, role_changed_at,
      type, tags, needs, assignee)
    select i.id, c.role, c.previous_role, c.outcome, c.status_label, c.dead, c.attempts, muster_now() + c.available_in,
      c.agent, c.session, case when c.agent is null then 0 else 1 end,
      case when c.agent is not null then muster_now() end, case when c.agent is not null then muster_now() end,
      muster_now() + c.ttl_ms * interval '1 millisecond', c.ttl_ms,
      i.root_id, i.parent_id, i.ancestors, muster_rank(i.priority, i.complexity), i.priority, i.complexity,
      i.created_at, i.modified_at, i.created_at, i.type, i.tags, i.needs, i.assignee
    from jsonb_to_recordset(${records}::jsonb) as c(id uuid, role text, previous_role text, outcome text,
      status_label text, dead boolean, attempts int, available_in interval, agent text, session text, ttl_ms int)
    join items i on i.id = c.id`.execute(db);
  await sql`
    insert into attempts (item_id, fence, agent, session, claimed_at)
    select item_id, fence, agent, session, claimed_at from item_state
    where agent is not null and item_id = any(${rows.map((row) => row.id)}::uuid[])`.execute(db);
}

function toRecord(row: Placed): Record<string, unknown> {
  planted += 1;
  const role = row.role ?? "queue";
  const claim = row.claim ?? null;
  return {
    id: row.id,
    root_id: row.ancestors[0] ?? row.id,
    parent_id: row.parentId ?? null,
    ancestors: row.ancestors,
    title: row.title ?? `item ${planted}`,
    summary: row.summary ?? "",
    description: row.description ?? null,
    type: row.type ?? null,
    tags: row.tags ?? [],
    needs: row.needs ?? [],
    assignee: row.assignee ?? null,
    priority: row.priority ?? "medium",
    complexity: row.complexity ?? null,
    // Later ones are younger, a millisecond each, and none is younger than now.
    age: row.createdAgo === undefined ? `${1_000_000 - planted} milliseconds` : `${row.createdAgo} seconds`,
    role,
    previous_role: row.previousRole ?? (role === "blocked" ? "queue" : null),
    outcome: role === "terminal" ? (row.outcome ?? "done") : null,
    status_label: row.statusLabel ?? null,
    dead: row.dead ?? false,
    attempts: row.attempts ?? 0,
    available_in:
      row.availableIn === undefined || row.availableIn === null ? null : `${row.availableIn} seconds`,
    agent: claim?.agent ?? null,
    session: claim === null ? null : (claim.session ?? `${claim.agent}-session`),
    ttl_ms: claim === null ? null : (claim.ttlSeconds ?? 900) * 1000,
  };
}

async function insertEdges(db: Kysely<Database>, edges: readonly EdgeFixture[]): Promise<void> {
  await db
    .insertInto("dependencies")
    .values(
      edges.map((edge) => ({
        id: randomUUID(),
        from_item: edge.from,
        to_item: edge.to,
        type: "BLOCKS" as const,
        unblock_at: edge.unblockAt ?? null,
        on_cancelled: edge.onCancelled ?? null,
      })),
    )
    .execute();
}
