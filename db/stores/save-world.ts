/**
 * Stores what a decision changed: one statement, however many items changed. Its parts
 * touch different tables and none reads what another writes. Parts with nothing to write
 * are left out, since opening a table and its indexes costs as much as a row or two.
 *
 * The sequence number of an event is taken here, after every lock, so that the events of
 * one item are in order.
 */
import { TROUBLE_WINDOW_MS } from "../../services/core/breaker.ts";
import type { ItemState } from "../../services/core/state.ts";
import type { Tally, World } from "../../services/core/world.ts";
import { Column, type ColumnType, type ColumnValue } from "../binary-array.ts";
import { type Handle, runGenerated } from "../statement.ts";
import { jsonOrNull } from "./author-columns.ts";
import type { SavedAnswer } from "./idempotency-store.ts";

/** What one part writes: where each column of its rows comes from, and the statement that reads them as `c`. */
interface Part<Row> {
  readonly columns: readonly (readonly [name: string, type: ColumnType, of: (row: Row) => ColumnValue])[];
  /** @param rows the rows as a source called `c`; @param ids the parameter of the first column */
  readonly sql: (rows: string, ids: string) => string;
}

/** One instant for the whole statement. */
const NOW = "(select muster_now())";

const STATES: Part<ItemState> = {
  columns: [
    ["item_id", "uuid", (s) => s.id],
    ["role", "text", (s) => s.role],
    ["previous_role", "text", (s) => s.previousRole],
    ["outcome", "text", (s) => s.outcome],
    ["status_label", "text", (s) => s.statusLabel],
    ["blockers", "int4", (s) => s.blockers],
    ["ancestor_blockers", "int4", (s) => s.ancestorBlockers],
    ["open_children", "int4", (s) => s.openChildren],
    ["done_children", "int4", (s) => s.doneChildren],
    ["close_withheld", "bool", (s) => s.closeWithheld],
    ["available_at", "timestamptz", (s) => s.availableAt],
    ["attempts", "int4", (s) => s.attempts],
    ["dead", "bool", (s) => s.dead],
    ["review_rounds", "int4", (s) => s.reviewRounds],
    ["agent", "text", (s) => s.claim?.agent ?? null],
    ["session", "text", (s) => s.claim?.session ?? null],
    ["fence", "int8", (s) => s.fence],
    ["claimed_at", "timestamptz", (s) => s.claim?.claimedAt ?? null],
    ["original_claimed_at", "timestamptz", (s) => s.claim?.originalClaimedAt ?? null],
    ["expires_at", "timestamptz", (s) => s.claim?.expiresAt ?? null],
    ["ttl_ms", "int4", (s) => s.claim?.ttlMs ?? null],
  ],
  // The ids once more as an array: an array is looked up by the key, while a set that the planner
  // misjudges is joined to the whole table.
  sql: (rows, ids) => `update item_state s set
      ${STATES.columns
        .slice(1)
        .map(([name]) => `${name} = c.${name}`)
        .join(", ")},
      role_changed_at = case when s.role <> c.role then ${NOW} else s.role_changed_at end,
      modified_at = case when s.role <> c.role then greatest(${NOW}, s.modified_at) else s.modified_at end
    from ${rows} where s.item_id = c.item_id and s.item_id = any(${ids})`,
};

type Counted = readonly [parentId: string, tally: Tally];

/** Parents that are not locked: added to, whatever they hold by now, as long as an open child is left. */
const TALLIED: Part<Counted> = {
  columns: [
    ["item_id", "uuid", ([id]) => id],
    ["open", "int4", ([, tally]) => tally.open],
    ["done", "int4", ([, tally]) => tally.done],
  ],
  sql: (
    rows,
    ids,
  ) => `update item_state s set open_children = s.open_children + c.open, done_children = s.done_children + c.done
    from ${rows} where s.item_id = c.item_id and s.item_id = any(${ids}) and s.open_children + c.open >= 1
    returning 1`,
};

// Looked up row by row: by a set of ids and then matched, a batch would compare every row with every row.
const ENDED: Part<World["ended"][number]> = {
  columns: [
    ["item_id", "uuid", (a) => a.itemId],
    ["fence", "int8", (a) => a.fence],
    ["reason", "text", (a) => a.reason],
    ["detail", "text", (a) => a.detail],
    ["failure", "text", (a) => a.failure],
  ],
  sql: (
    rows,
  ) => `update attempts a set ended_at = ${NOW}, end_reason = c.reason, detail = c.detail, failure = c.failure,
      ended_xid = pg_current_xact_id()
    from ${rows} where a.item_id = c.item_id and a.fence = c.fence and a.ended_at is null`,
};

interface RootEnd {
  readonly rootId: string;
  readonly environment: boolean;
}

// Good ends are written only beside bad ones: where nothing fails, this looks into an empty index.
const ROOT_ENDED: Part<RootEnd> = {
  columns: [
    ["root_id", "uuid", (e) => e.rootId],
    ["environment", "bool", (e) => e.environment],
  ],
  sql: (rows) => `insert into root_ends (root_id, at, environment)
    select c.root_id, ${NOW}, c.environment from ${rows}
    where c.environment or exists (select 1 from root_ends e where e.root_id = c.root_id
      and e.at > ${NOW} - interval '${TROUBLE_WINDOW_MS} milliseconds')`,
};

/** Ends that say something about the environment: those that got through, and those that failed. */
function rootEnds(world: World): RootEnd[] {
  return world.ended.flatMap(({ itemId, reason, failure }) => {
    const rootId = world.find(itemId)?.rootId;
    const tells = reason === "completed" || reason === "failed";
    return tells && rootId !== undefined ? [{ rootId, environment: failure === "environment" }] : [];
  });
}

type Opened = World["opened"][number] & { readonly end: World["ended"][number] | undefined };

const OPENED: Part<Opened> = {
  columns: [
    ["item_id", "uuid", (a) => a.itemId],
    ["fence", "int8", (a) => a.fence],
    ["agent", "text", (a) => a.agent],
    ["session", "text", (a) => a.session],
    ["parent_agent", "text", (a) => a.parentAgent],
    ["actor", "text", (a) => jsonOrNull(a.by.actor)],
    ["verification", "text", (a) => jsonOrNull(a.by.verification)],
    ["reason", "text", (a) => a.end?.reason ?? null],
    ["detail", "text", (a) => a.end?.detail ?? null],
  ],
  sql: (
    rows,
  ) => `insert into attempts (item_id, fence, agent, session, parent_agent, claimed_at, ended_at, end_reason, detail,
      ended_xid, actor, verification)
    select c.item_id, c.fence, c.agent, c.session, c.parent_agent, ${NOW},
      case when c.reason is not null then ${NOW} end, c.reason, c.detail,
      case when c.reason is not null then pg_current_xact_id() end, c.actor::jsonb, c.verification::jsonb
    from ${rows}`,
};

const MOVED: Part<World["transitions"][number]> = {
  columns: [
    ["item_id", "uuid", (t) => t.itemId],
    ["root_id", "uuid", (t) => t.rootId],
    ["from_role", "text", (t) => t.fromRole],
    ["to_role", "text", (t) => t.toRole],
    ["from_label", "text", (t) => t.fromLabel],
    ["to_label", "text", (t) => t.toLabel],
    ["trigger", "text", (t) => t.trigger],
    ["summary", "text", (t) => t.summary],
    ["agent", "text", (t) => t.by.agent],
    ["session", "text", (t) => t.by.session],
    ["actor", "text", (t) => jsonOrNull(t.by.actor)],
    ["verification", "text", (t) => jsonOrNull(t.by.verification)],
    ["fence", "int8", (t) => t.fence],
    ["consumed", "text", (t) => (t.consumed.length === 0 ? null : JSON.stringify(t.consumed))],
  ],
  sql: (
    rows,
  ) => `insert into transitions (item_id, root_id, from_role, to_role, from_label, to_label, trigger, summary,
      agent, session, actor, verification, fence, consumed_credentials, at)
    select c.item_id, c.root_id, c.from_role, c.to_role, c.from_label, c.to_label, c.trigger, c.summary,
      c.agent, c.session, c.actor::jsonb, c.verification::jsonb, c.fence,
      case when c.consumed is not null then array(select json_array_elements_text(c.consumed::json)) end, ${NOW} from ${rows}`,
};

const ANSWERED: Part<SavedAnswer> = {
  columns: [
    ["principal", "text", (a) => a.principal],
    ["key", "uuid", (a) => a.requestId],
    ["element", "text", (a) => a.element],
    ["operation", "text", (a) => a.operation],
    ["fingerprint", "text", (a) => a.fingerprint],
    ["answer", "text", (a) => JSON.stringify(a.answer)],
    ["target_id", "uuid", (a) => a.targetId],
  ],
  sql: (
    rows,
  ) => `insert into idempotency (principal, key, element, operation, fingerprint, answer, target_id, created_at)
    select c.principal, c.key, c.element, c.operation, c.fingerprint, c.answer::json, c.target_id, ${NOW} from ${rows}`,
};

const HAPPENED: Part<World["events"][number]> = {
  columns: [
    ["type", "text", (e) => e.type],
    ["item_id", "uuid", (e) => e.itemId],
    ["root_id", "uuid", (e) => e.rootId],
    ["data", "text", (e) => JSON.stringify(e.data)],
  ],
  sql: (rows) => `insert into events (type, item_id, root_id, data, at)
    select c.type, c.item_id, c.root_id, c.data::jsonb, ${NOW} from ${rows}`,
};

/** Puts the statement together. */
class Writes {
  readonly #parts: string[] = [];
  readonly #values: Column[] = [];
  #check: string | null = null;

  add<Row>(part: Part<Row>, rows: readonly Row[]): this {
    if (rows.length === 0) return this;
    const from = this.#values.length + 1;
    const sources = part.columns.map(([, type], index) => `$${from + index}::${type}[]`);
    const names = part.columns.map(([name]) => name);
    for (const [, type, of] of part.columns) this.#values.push(new Column(type, rows.map(of)));
    const source = `unnest(${sources.join(", ")}) as c(${names.join(", ")})`;
    const name = `part_${this.#parts.length}`;
    this.#parts.push(`${name} as (${part.sql(source, sources[0] ?? "")})`);
    // A parent that would close after all has to be locked and judged.
    if ((part as unknown) === TALLIED)
      this.#check = `(select count(*) from ${name}) < cardinality(${sources[0]})`;
    return this;
  }

  async run(handle: Handle): Promise<void> {
    if (this.#parts.length === 0) return;
    const end =
      this.#check === null ? "where false" : `case when ${this.#check} then muster_start_over() end`;
    await runGenerated(handle, `with ${this.#parts.join(",\n")} select ${end}`, this.#values);
  }
}

/** Writes what the decision changed, and the answers under their keys: one statement, however many items changed. */
export async function saveWorld(
  handle: Handle,
  world: World,
  answers: readonly SavedAnswer[] = [],
): Promise<void> {
  await new Writes()
    .add(STATES, world.changed())
    // In the order of all locks: two of these must not wait for each other.
    .add(
      TALLIED,
      [...world.tallies].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
    .add(ENDED, world.ended)
    .add(ROOT_ENDED, rootEnds(world))
    .add(
      OPENED,
      world.opened.map((attempt) => withEnd(world, attempt)),
    )
    .add(MOVED, world.transitions)
    .add(ANSWERED, answers)
    .add(HAPPENED, world.events)
    .run(handle);
}

/** An attempt that began and ended in one transaction is written ended: the update beside it cannot see it. */
function withEnd(world: World, attempt: World["opened"][number]): Opened {
  const end = world.ended.find((one) => one.itemId === attempt.itemId && one.fence === attempt.fence);
  return { ...attempt, end };
}
