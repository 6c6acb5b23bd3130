/** Reminders that have fired and that nobody has acknowledged. */
import { type Handle, runGenerated } from "../statement.ts";
import { narrowed } from "./item-read-store.ts";
import { matchesFilter, Parameters, type SelectorAsker, type SelectorFilter } from "./readiness-sql.ts";

export interface PendingRow {
  id: string;
  item_id: string;
  note: string | null;
  to_agent: string | null;
  to_capability: string | null;
  fired_at: Date;
}

export interface PendingQuery {
  readonly filter: SelectorFilter;
  readonly asker: SelectorAsker;
  /** Ids of the items whose subtrees are seen; null: all. */
  readonly scope: readonly string[] | null;
}

/** The one that fired first at the head. What is done needs no reminder any more. */
export async function findPending(
  handle: Handle,
  { filter, asker, scope }: PendingQuery,
  limit: number,
): Promise<PendingRow[]> {
  const parameters = new Parameters();
  const seen = parameters.add(scope, "::uuid[]");
  const conditions = [
    "r.fired_at is not null and r.acked_at is null and s.role <> 'terminal'",
    `(r.to_agent is null or r.to_agent = ${parameters.add(asker.agent, "::text")})`,
    `(r.to_capability is null or r.to_capability = any(${parameters.add(asker.capabilities, "::text[]")}))`,
    `(${seen} is null or s.item_id = any(${seen}) or s.ancestors && ${seen})`,
    ...narrowed(filter, parameters),
    matchesFilter(filter, parameters),
  ];
  return await runGenerated<PendingRow>(
    handle,
    `select r.id, r.item_id, r.note, r.to_agent, r.to_capability, r.fired_at
     from reminders r join item_state s on s.item_id = r.item_id
     where ${conditions.join(" and ")} order by r.fired_at, r.id limit ${parameters.add(limit, "::int")}`,
    parameters.values,
  );
}
