/**
 * The texts that projects configure themselves with. Which text counts is asked in every
 * transaction that needs to know, by its fingerprint; the text itself is read when the
 * fingerprint is a new one.
 */
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

/** How many fingerprints are remembered: a text older than that counts as a new one. */
const HISTORY_KEPT = 20;

const fingerprints = statement<{ root_id: string; fingerprint: string }>(
  "project_configs_fingerprints",
  `select root_id, fingerprint from project_configs where root_id = any($1::uuid[])`,
);

/** The fingerprint of the text that each of the roots has now; roots without one are left out. */
export async function findFingerprints(
  handle: Handle,
  rootIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await fingerprints(handle, [rootIds]);
  return new Map(rows.map((row) => [row.root_id, row.fingerprint]));
}

const texts = statement<{ root_id: string; fingerprint: string; config_yaml: string }>(
  "project_configs_texts",
  `select root_id, fingerprint, config_yaml from project_configs where root_id = any($1::uuid[])`,
);

export interface ConfigText {
  readonly rootId: string;
  readonly fingerprint: string;
  readonly text: string;
}

export async function readTexts(handle: Handle, rootIds: readonly string[]): Promise<ConfigText[]> {
  const rows = await texts(handle, [rootIds]);
  return rows.map((row) => ({ rootId: row.root_id, fingerprint: row.fingerprint, text: row.config_yaml }));
}

export interface StoredConfig {
  readonly text: string;
  readonly fingerprint: string;
  /** The latest first, and its own among them. */
  readonly history: readonly string[];
  readonly updatedAt: Date;
}

const stored = statement<{ config_yaml: string; fingerprint: string; history: string[]; updated_at: Date }>(
  "project_configs_read",
  `select config_yaml, fingerprint, history, updated_at from project_configs where root_id = $1`,
);

export async function readConfig(handle: Handle, rootId: string): Promise<StoredConfig | null> {
  const [row] = await stored(handle, [rootId]);
  if (row === undefined) return null;
  return {
    text: row.config_yaml,
    fingerprint: row.fingerprint,
    history: row.history,
    updatedAt: row.updated_at,
  };
}

const root = statement<{ root_id: string; type: string | null }>(
  "project_configs_root",
  `select root_id, type from items where id = $1`,
);

/** What an item is, for the question whether it can have a text of its own. */
export async function findRootOf(
  handle: Handle,
  id: string,
): Promise<{ readonly rootId: string; readonly type: string | null } | null> {
  const [row] = await root(handle, [id]);
  return row === undefined ? null : { rootId: row.root_id, type: row.type };
}

const write = statement<{ updated_at: Date }>(
  "project_configs_write",
  `with told as (
     insert into events (type, item_id, root_id, data)
     values ('config.changed', $1, $1, jsonb_build_object('fingerprint', $3::text))
   )
   insert into project_configs as p (root_id, config_yaml, fingerprint, history, updated_by, actor, verification)
   values ($1, $2, $3, array[$3], $4, $5::jsonb, $6::jsonb)
   on conflict (root_id) do update set config_yaml = excluded.config_yaml, fingerprint = excluded.fingerprint,
     history = (array[excluded.fingerprint] || array_remove(p.history, excluded.fingerprint))[:${HISTORY_KEPT}],
     updated_at = muster_now(), updated_by = excluded.updated_by, actor = excluded.actor,
     verification = excluded.verification
   returning updated_at`,
);

const remove = statement<{ root_id: string }>(
  "project_configs_delete",
  `with told as (
     insert into events (type, item_id, root_id, data)
     values ('config.changed', $1, $1, jsonb_build_object('fingerprint', null))
   )
   delete from project_configs where root_id = $1 returning root_id`,
);

/** The project has no text of its own any more, and no history of one. */
export async function deleteConfig(handle: Handle, rootId: string): Promise<void> {
  await remove(handle, [rootId]);
}

/** Makes the text the project's own, and puts its fingerprint first in the history. */
export async function writeConfig(
  handle: Handle,
  { rootId, fingerprint, text }: ConfigText,
  author: Author,
): Promise<Date> {
  const [agent, actor, verification] = authorValues(author);
  const [row] = await write(handle, [rootId, text, fingerprint, agent, actor, verification]);
  if (row === undefined) throw new Error("a configuration was written and no row came back");
  return row.updated_at;
}
