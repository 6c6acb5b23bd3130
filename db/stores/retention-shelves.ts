/**
 * What old rows are, table by table, and how a batch of them is found without reading the table.
 *
 *   key   rows are numbered in the order of their age: the batch is the next few numbers, and
 *         the first one that is young ends the pass
 *   heap  rows lie in no order that an index knows, and an index of their age would cost every
 *         claim: the batch is the next few pages of the table, and the last page ends the pass.
 *         (A summary of page ranges does not help for long: new rows fill the room of old ones,
 *         and then every range holds something old.)
 *   age   an index of the age is there anyway
 *
 * $1 is how old is old, in hours. In the conditions `r` is the row.
 */
import type { RetentionWindows } from "../../services/core/retention.ts";

export interface Shelf {
  readonly name: string;
  readonly table: string;
  readonly walk:
    | { readonly by: "key"; readonly key: string; readonly at: string }
    | { readonly by: "heap" }
    | { readonly by: "age"; readonly at: string };
  /** Hours. */
  readonly window: (windows: RetentionWindows) => number;
  /** Old, and not needed any more. */
  readonly old: string;
}

const CUTOFF = "muster_now() - $1::float8 * interval '1 hour'";
const days = (key: Exclude<keyof RetentionWindows, "idempotencyHours">) => (windows: RetentionWindows) =>
  windows[key] * 24;

export const SHELVES: readonly Shelf[] = [
  {
    name: "events",
    table: "events",
    walk: { by: "key", key: "seq", at: "at" },
    window: days("eventsDays"),
    old: `r.at < ${CUTOFF}`,
  },
  {
    name: "audit",
    table: "audit_log",
    walk: { by: "key", key: "id", at: "at" },
    window: days("auditDays"),
    old: `r.at < ${CUTOFF}`,
  },
  {
    name: "lease history",
    table: "resource_lease_history",
    walk: { by: "heap" },
    window: days("leaseHistoryDays"),
    // One that is open ends yet. Of an item at work it says what an operator took away.
    old: `r.released_at < ${CUTOFF} and not exists (select 1 from item_state s where s.item_id = r.item_id and s.role = 'work')`,
  },
  {
    name: "attempts",
    table: "attempts",
    walk: { by: "heap" },
    window: days("attemptsDays"),
    // Those of open items say who is stale and who did the work; the latest says how it ended.
    old: `r.ended_at < ${CUTOFF} and (
        not exists (select 1 from item_state s where s.item_id = r.item_id)
        or (exists (select 1 from attempts a where a.item_id = r.item_id and a.fence > r.fence)
          and exists (select 1 from item_state s where s.item_id = r.item_id and s.role = 'terminal')))`,
  },
  {
    name: "idempotency",
    table: "idempotency",
    walk: { by: "heap" },
    window: (windows) => windows.idempotencyHours,
    old: `r.created_at < ${CUTOFF}`,
  },
  {
    name: "trash",
    table: "trash",
    walk: { by: "age", at: "expires_at" },
    window: () => 0,
    old: `r.expires_at <= ${CUTOFF}`,
  },
  {
    name: "note versions",
    table: "note_versions",
    walk: { by: "heap" },
    window: days("versionsDays"),
    // Its age is that of the change that replaced it. The last text of a note that was deleted stays: who
    // writes it anew goes on counting from there.
    old: `r.at < ${CUTOFF} and coalesce(
        (select v.at from note_versions v where v.item_id = r.item_id and v.key = r.key and v.version = r.version + 1),
        (select n.modified_at from notes n where n.item_id = r.item_id and n.key = r.key)) < ${CUTOFF}`,
  },
  {
    name: "item versions",
    table: "item_versions",
    walk: { by: "heap" },
    window: days("versionsDays"),
    old: `r.at < ${CUTOFF}`,
  },
  {
    name: "transitions",
    table: "transitions",
    walk: { by: "heap" },
    window: days("transitionsDays"),
    old: `r.at < ${CUTOFF} and (
        exists (select 1 from transitions t where t.item_id = r.item_id and t.id > r.id)
        or not exists (select 1 from item_state s where s.item_id = r.item_id))`,
  },
  {
    name: "agents",
    table: "agents",
    walk: { by: "age", at: "last_seen_at" },
    window: days("agentsDays"),
    old: `r.last_seen_at < ${CUTOFF}
      and not exists (select 1 from item_state s where s.agent = r.agent and s.session = r.session)`,
  },
  {
    name: "ends",
    table: "root_ends",
    walk: { by: "key", key: "id", at: "at" },
    window: () => 1,
    old: `r.at < ${CUTOFF}`,
  },
];
