/**
 * The advisory lock of a root's graph: who changes the shape of a tree, or edges between
 * items, holds it exclusively; who only hangs a new leaf into it shares it. Locks of
 * several roots are taken in the order of their keys by one statement, so that two
 * transactions queue up instead of deadlocking. Nobody takes both modes in one transaction.
 */
import { type Handle, statement } from "../statement.ts";

const keys = `select distinct hashtextextended('graph ' || r::text, 0) as k from unnest($1::uuid[]) as r order by 1`;

const lockExclusive = statement<never>(
  "graph_lock_exclusive",
  `select pg_advisory_xact_lock(c.k) from (${keys}) as c`,
);

const lockShared = statement<never>(
  "graph_lock_shared",
  `select pg_advisory_xact_lock_shared(c.k) from (${keys}) as c`,
);

export async function lockGraph(
  handle: Handle,
  roots: Iterable<string>,
  mode: "shared" | "exclusive",
): Promise<void> {
  const wanted = [...new Set(roots)];
  if (wanted.length === 0) return;
  await (mode === "shared" ? lockShared : lockExclusive)(handle, [wanted]);
}

const roots = statement<{ id: string; root_id: string }>(
  "graph_roots",
  `select id, root_id from items where id = any($1::uuid[])`,
);

/** The root of each item. Without its lock a root can change: look again once it is held. */
export async function findRoots(handle: Handle, ids: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = await roots(handle, [wanted]);
  return new Map(rows.map((row) => [row.id, row.root_id]));
}
