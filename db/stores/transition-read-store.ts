/** The moves of items, as the audit has them: also of items that are gone. */
import { CompiledQuery, type Selectable } from "kysely";
import type { TransitionsTable } from "../schema.ts";
import type { Handle } from "../statement.ts";
import { Parameters, recordInScope } from "./readiness-sql.ts";

export type TransitionRow = Omit<Selectable<TransitionsTable>, "session" | "fence" | "root_id">;

export interface TransitionQuery {
  readonly itemId?: string | undefined;
  /** What the caller sees; undefined: everything. */
  readonly scope?: readonly string[] | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A page, the latest first, and how many there are in all. */
export async function listTransitionRows(
  handle: Handle,
  query: TransitionQuery,
): Promise<{ rows: TransitionRow[]; total: number }> {
  const where = (parameters: Parameters): string => {
    const all = ["true"];
    if (query.itemId !== undefined) all.push(`t.item_id = ${parameters.add(query.itemId, "::uuid")}`);
    if (query.since !== undefined) all.push(`t.at >= ${parameters.add(query.since, "::timestamptz")}`);
    if (query.scope !== undefined) all.push(recordInScope("t.item_id", "t.root_id", query.scope, parameters));
    return all.join(" and ");
  };
  const counting = new Parameters();
  const counted = await handle.executeQuery<{ total: number }>(
    CompiledQuery.raw(
      `select count(*)::int as total from transitions t where ${where(counting)}`,
      counting.values,
    ),
  );
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<TransitionRow>(
    CompiledQuery.raw(
      `select t.id, t.item_id, t.from_role, t.to_role, t.from_label, t.to_label, t.trigger, t.summary, t.agent,
         t.actor, t.verification, t.consumed_credentials, t.at
       from transitions t where ${where(parameters)} order by t.at desc, t.id desc
       limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`,
      parameters.values,
    ),
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}
