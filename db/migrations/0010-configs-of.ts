/**
 * Which texts configure the projects of the items that a decision judges: asked with what hangs
 * on the locked rows, so that a project without a text of its own costs no question more.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create function muster_configs(judged uuid[]) returns json
   language sql stable set plan_cache_mode to force_generic_plan as $$
     select json_object_agg(c.root_id, c.fingerprint) from project_configs c
     where c.root_id = any(array(select s.root_id from item_state s where s.item_id = any(judged)))
   $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
