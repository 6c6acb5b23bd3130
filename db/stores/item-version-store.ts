/**
 * What the texts of items said before. A row is a change: the version it made, and what the
 * fields that it changed said until then. A field's text in a version is therefore what the
 * next change of it found, and what it says now if there was none.
 */
import type { AppliedEdit } from "../../services/core/texts/edit-text.ts";
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import type { AuthorRow } from "./note-store.ts";

export type TextField = "title" | "summary" | "description";
export type TextValues = Readonly<Partial<Record<TextField, string | null>>>;
/** An edit by anchor, with the field that it was made in. */
export interface FieldEdit extends AppliedEdit {
  readonly field: TextField;
}

export interface ItemTextsRow {
  readonly title: string;
  readonly summary: string;
  readonly description: string | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
  readonly version: number;
  readonly modified_at: Date;
}

const texts = statement<ItemTextsRow>(
  "items_texts",
  `select title, summary, description, properties, version, modified_at from items where id = $1`,
);

export async function findItemTexts(handle: Handle, id: string): Promise<ItemTextsRow | null> {
  const [row] = await texts(handle, [id]);
  return row ?? null;
}

const keep = statement<never>(
  "item_versions_keep",
  `with pruned as (
     delete from item_versions where item_id = $1 and version <= (
       select version from item_versions where item_id = $1 order by version desc offset $9 - 1 limit 1)
   )
   insert into item_versions (item_id, version, before, edits, agent, session, actor, verification)
   values ($1, $2, $3::jsonb, $4::jsonb, $5, $6, $7::jsonb, $8::jsonb)`,
);

export interface KeptItemVersion {
  readonly itemId: string;
  readonly version: number;
  readonly before: TextValues;
  readonly edits: readonly FieldEdit[] | null;
  readonly author: Author;
}

/** @param kept how many changes of an item stay */
export async function keepItemVersion(handle: Handle, change: KeptItemVersion, kept: number): Promise<void> {
  const { itemId, version, before, edits, author } = change;
  const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  await keep(handle, [
    itemId,
    version,
    JSON.stringify(before),
    json(edits),
    author.agent,
    author.session,
    json(author.actor),
    json(author.verification),
    kept,
  ]);
}

export interface ItemVersionRow extends AuthorRow {
  readonly version: number;
  readonly at: Date;
  readonly fields: readonly TextField[];
}

const history = statement<ItemVersionRow>(
  "item_versions_history",
  `select v.version, v.at, array(select jsonb_object_keys(v.before) order by 1) as fields, v.agent, v.session, v.actor,
     v.verification
   from item_versions v
   where v.item_id = $1 and ($2::int is null or v.version < $2) and ($3::int is null or v.version > $3)
   order by v.version desc limit $4`,
);

export interface ItemHistoryWindow {
  /** Only versions below this one. */
  readonly before?: number | null;
  /** Only versions above this one. */
  readonly after?: number | null;
  readonly limit: number;
}

/** Changes of the item's texts, newest first. */
export async function findItemHistory(
  handle: Handle,
  id: string,
  window: ItemHistoryWindow,
): Promise<ItemVersionRow[]> {
  return await history(handle, [id, window.before ?? null, window.after ?? null, window.limit]);
}

const change = statement<{ before: TextValues; edits: readonly FieldEdit[] | null }>(
  "item_versions_change",
  `select before, edits from item_versions where item_id = $1 and version = $2`,
);

/** What a version changed; null if it changed no text, or is not kept any more. */
export async function findItemChange(
  handle: Handle,
  id: string,
  version: number,
): Promise<{ before: TextValues; edits: readonly FieldEdit[] | null } | null> {
  const [row] = await change(handle, [id, version]);
  return row ?? null;
}

const textsAt = statement<{ field: TextField; said: string | null }>(
  "item_versions_texts_at",
  `select f.field, f.said from unnest(array['title', 'summary', 'description']) as name(field)
   cross join lateral (
     select name.field, v.before ->> name.field as said from item_versions v
     where v.item_id = $1 and v.version > $2 and jsonb_exists(v.before, name.field)
     order by v.version limit 1
   ) f`,
);

/** The texts as they were in a version; fields that have not changed since are missing. */
export async function findTextsAt(handle: Handle, id: string, version: number): Promise<TextValues> {
  const rows = await textsAt(handle, [id, version]);
  return Object.fromEntries(rows.map(({ field, said }) => [field, said]));
}
