/**
 * Loads the working set of a decision under its locks, and stores what changed.
 *
 * Order inside a transaction: the rows are locked in id order (two transactions that need
 * the same rows queue up instead of deadlocking), the edges are read after the locks (a
 * read before would see the world as it was before the wait), and everything that changed
 * is written by one statement, however many items changed.
 */
import type { Edge } from "../../services/core/edges.ts";
import type { Role } from "../../services/core/roles.ts";
import type { ItemPolicy, ItemState } from "../../services/core/state.ts";
import { NotLocked, World } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { type SavedAnswer, toAnswerRecord } from "./idempotency-store.ts";
import { STATE_COLUMNS, type StateRow, toItemState } from "./state-row.ts";

/** Locks and reads; see migration 0002. */
const lock = statement<StateRow & { now: Date }>(
  "world_lock",
  `select ${STATE_COLUMNS}, muster_now() as now from muster_lock($1::uuid[], $2::uuid[], $3::uuid[], $4) s`,
);

interface Surroundings {
  readonly edges: readonly EdgeRow[] | null;
  /** Roles of parents that were read without a lock. */
  readonly roles: Readonly<Record<string, Role>> | null;
  /** Everything below the wanted subtrees. */
  readonly below: readonly string[] | null;
}

const surroundings = statement<{ found: Surroundings }>(
  "world_surroundings",
  `select muster_surroundings($1::uuid[], $2::uuid[], $3::uuid[], $4) as found`,
);

export interface EdgeRow {
  readonly id: string;
  readonly from_item: string;
  readonly to_item: string;
  readonly unblock_at: Edge["threshold"] | null;
  readonly on_cancelled: Edge["onCancelled"] | null;
  readonly to_has_children: boolean;
}

/**
 * What else than the items' own rows can change. `all`: they may close or reopen. `start`:
 * they only start, which moves queued parents and counts nothing in others, so starts
 * below one parent do not queue up for its row. `none`: nothing.
 */
export type Neighbours = "all" | "start" | "none";

const PARENTS = { all: "all", start: "queued", none: "none" } as const;

export interface LoadWorld {
  readonly items: readonly string[];
  /** What an earlier try was missing. */
  readonly extra: { readonly items: readonly string[]; readonly subtrees: readonly string[] };
  readonly neighbours: Neighbours;
  readonly policyOf: (state: ItemState) => ItemPolicy;
  /** What an edge that says nothing means when its blocker is cancelled. */
  readonly onCancelled: Edge["onCancelled"];
}

/** Locks and loads. Items that do not exist are simply not in the world. */
export async function loadWorld(handle: Handle, input: LoadWorld): Promise<World> {
  const { items, extra, neighbours } = input;
  const asked = [items, extra.items, extra.subtrees, PARENTS[neighbours]];
  // Sent together; the second runs after the first has its locks, and sees what was committed meanwhile.
  const [rows, [around]] = await Promise.all([
    lock(handle, asked),
    neighbours === "none" && extra.subtrees.length === 0 ? [] : surroundings(handle, asked),
  ]);
  refuseGrown(rows, around?.found.below ?? []);
  const states = rows.map(toItemState);
  return new World({
    now: rows[0]?.now.getTime() ?? 0,
    states,
    edges: (around?.found.edges ?? []).map((row) => toEdge(row, input.onCancelled)),
    edgesOf: neighbours === "none" ? [] : withParents(states, new Set([...items, ...extra.items])),
    subtrees: extra.subtrees,
    glimpsedRoles: new Map(Object.entries(around?.found.roles ?? {})),
    policyOf: input.policyOf,
  });
}

/**
 * The locking statement sees the world as it was before it waited: a child that was hung into a
 * subtree meanwhile is in none of its rows, and would be left out of its ancestors' changes for good.
 */
function refuseGrown(rows: readonly StateRow[], below: readonly string[]): void {
  const locked = new Set(rows.map((row) => row.item_id));
  const grown = below.filter((id) => !locked.has(id));
  if (grown.length > 0) throw new NotLocked(grown);
}

/** The rows whose edges were read. */
function withParents(states: readonly ItemState[], ids: ReadonlySet<string>): string[] {
  return states.flatMap(({ id, parentId }) => {
    if (!ids.has(id)) return [];
    return parentId === null ? [id] : [id, parentId];
  });
}

export function toEdge(row: EdgeRow, onCancelled: Edge["onCancelled"]): Edge {
  return {
    id: row.id,
    from: row.from_item,
    to: row.to_item,
    threshold: row.unblock_at ?? "terminal",
    onCancelled: row.on_cancelled ?? onCancelled,
    toHasChildren: row.to_has_children,
  };
}

/**
 * Everything that one decision changed, in one statement: the parts touch different tables
 * and nothing reads what another part writes. The sequence number of an event is taken
 * here, after every lock, so that the events of one item are in order.
 */
const save = statement<never>(
  "world_save",
  `with states as (
     update item_state s set
       role = c.role, previous_role = c.previous_role, outcome = c.outcome, status_label = c.status_label,
       blockers = c.blockers, ancestor_blockers = c.ancestor_blockers, open_children = c.open_children,
       done_children = c.done_children, close_withheld = c.close_withheld, available_at = c.available_at,
       attempts = c.attempts, dead = c.dead, agent = c.agent, session = c.session, fence = c.fence,
       claimed_at = c.claimed_at, original_claimed_at = c.original_claimed_at, expires_at = c.expires_at,
       ttl_ms = c.ttl_ms,
       role_changed_at = case when s.role <> c.role then muster_now() else s.role_changed_at end,
       modified_at = case when s.role <> c.role then greatest(muster_now(), s.modified_at) else s.modified_at end
     from json_to_recordset($1::json) as c(
       item_id uuid, role text, previous_role text, outcome text, status_label text, blockers int,
       ancestor_blockers int, open_children int, done_children int, close_withheld boolean,
       available_at timestamptz, attempts int, dead boolean, agent text, session text, fence bigint,
       claimed_at timestamptz, original_claimed_at timestamptz, expires_at timestamptz, ttl_ms int)
     where s.item_id = c.item_id and s.item_id = any($7::uuid[])
   ), ended as (
     update attempts a set ended_at = muster_now(), end_reason = c.reason, detail = c.detail
     from json_to_recordset($2::json) as c(item_id uuid, fence bigint, reason text, detail text)
     where a.item_id = c.item_id and a.fence = c.fence and a.ended_at is null and a.item_id = any($8::uuid[])
   ), opened as (
     insert into attempts (item_id, fence, agent, session, parent_agent, claimed_at, ended_at, end_reason, detail)
     select c.item_id, c.fence, c.agent, c.session, c.parent_agent, muster_now(),
       case when c.reason is not null then muster_now() end, c.reason, c.detail
     from json_to_recordset($3::json) as c(item_id uuid, fence bigint, agent text, session text, parent_agent text,
       reason text, detail text)
   ), moved as (
     insert into transitions (item_id, root_id, from_role, to_role, from_label, to_label, trigger, summary,
       agent, session, actor, fence, at)
     select c.item_id, c.root_id, c.from_role, c.to_role, c.from_label, c.to_label, c.trigger, c.summary,
       c.agent, c.session, c.actor, c.fence, muster_now()
     from json_to_recordset($4::json) as c(item_id uuid, root_id uuid, from_role text, to_role text,
       from_label text, to_label text, trigger text, summary text, agent text, session text, actor jsonb,
       fence bigint)
   ), answered as (
     insert into idempotency (principal, key, element, operation, fingerprint, answer, target_id, created_at)
     select c.principal, c.key, c.element, c.operation, c.fingerprint, c.answer, c.target_id, muster_now()
     from json_to_recordset($6::json) as c(principal text, key uuid, element text, operation text, fingerprint text,
       answer jsonb, target_id uuid)
   )
   insert into events (type, item_id, root_id, data, at)
   select c.type, c.item_id, c.root_id, c.data, muster_now()
   from json_to_recordset($5::json) as c(type text, item_id uuid, root_id uuid, data jsonb)`,
);

/** Writes what the decision changed, and the answers under their keys: one statement, however many items changed. */
export async function saveWorld(
  handle: Handle,
  world: World,
  answers: readonly SavedAnswer[] = [],
): Promise<void> {
  const changed = world.changed();
  const history = world.ended.length + world.opened.length + world.transitions.length + world.events.length;
  if (changed.length + history + answers.length === 0) return;
  await save(handle, [
    JSON.stringify(changed.map(toStateRecord)),
    JSON.stringify(
      world.ended.map(({ itemId, fence, reason, detail }) => ({ item_id: itemId, fence, reason, detail })),
    ),
    JSON.stringify(world.opened.map((attempt) => toAttemptRecord(world, attempt))),
    JSON.stringify(world.transitions.map(toTransitionRecord)),
    JSON.stringify(
      world.events.map(({ type, itemId, rootId, data }) => ({
        type,
        item_id: itemId,
        root_id: rootId,
        data,
      })),
    ),
    JSON.stringify(answers.map(toAnswerRecord)),
    changed.map((state) => state.id),
    world.ended.map((attempt) => attempt.itemId),
  ]);
}

function toTransitionRecord(row: World["transitions"][number]): Record<string, unknown> {
  return {
    item_id: row.itemId,
    root_id: row.rootId,
    from_role: row.fromRole,
    to_role: row.toRole,
    from_label: row.fromLabel,
    to_label: row.toLabel,
    trigger: row.trigger,
    summary: row.summary,
    agent: row.by.agent,
    session: row.by.session,
    actor: row.by.actor,
    fence: row.fence,
  };
}

/** An attempt that began and ended in one transaction is written ended: the update above cannot see it. */
function toAttemptRecord(world: World, attempt: World["opened"][number]): Record<string, unknown> {
  const { itemId, fence } = attempt;
  const end = world.ended.find((one) => one.itemId === itemId && one.fence === fence);
  return {
    item_id: itemId,
    fence,
    agent: attempt.agent,
    session: attempt.session,
    parent_agent: attempt.parentAgent,
    reason: end?.reason ?? null,
    detail: end?.detail ?? null,
  };
}

const instant = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString();

function toStateRecord(state: ItemState): Record<string, unknown> {
  return {
    item_id: state.id,
    role: state.role,
    previous_role: state.previousRole,
    outcome: state.outcome,
    status_label: state.statusLabel,
    blockers: state.blockers,
    ancestor_blockers: state.ancestorBlockers,
    open_children: state.openChildren,
    done_children: state.doneChildren,
    close_withheld: state.closeWithheld,
    available_at: instant(state.availableAt),
    attempts: state.attempts,
    dead: state.dead,
    agent: state.claim?.agent ?? null,
    session: state.claim?.session ?? null,
    fence: state.fence,
    claimed_at: instant(state.claim?.claimedAt),
    original_claimed_at: instant(state.claim?.originalClaimedAt),
    expires_at: instant(state.claim?.expiresAt),
    ttl_ms: state.claim?.ttlMs ?? null,
  };
}
