/**
 * What search looks through: the texts of items and notes, folded and indexed apart from them.
 *
 * Apart for two reasons. Items and notes are found by one scan of one set of indexes; and neither a claim nor
 * a changed priority touches an index of words, since a row here is written only when its text changes.
 * Triggers keep it so, whoever writes.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

/** Said instead of the server's own words, which name neither the cause nor a way out. */
const NO_TRIGRAMS =
  "search needs the PostgreSQL extension pg_trgm, and it could not be created. Install the server's contrib " +
  "package (Debian: postgresql-contrib), or let a superuser run `create extension pg_trgm` in this database " +
  "once; then start again";

const NOT_UTF8 =
  "search needs a database with the encoding UTF8. Create one with " +
  "`create database muster encoding 'UTF8' template template0`, and start again";

/** Between words. Kept from the parser, which would take `src/main.ts` for one word, a file, and not find `main`. */
const BETWEEN_WORDS = "-_/\\.,:;!?\"''()[]{}<>|&*+=~^%$#@`";
const SPACES = " ".repeat(BETWEEN_WORDS.length - 1);

function statements(collation: string): readonly string[] {
  return [
    // Small letters without accents, so that what was typed on another keyboard is found too.
    `create function muster_plain(given text) returns text language sql immutable parallel safe strict as $$
       select case when octet_length(given) = char_length(given) then lower(given collate "C") collate "default"
         else lower(normalize(regexp_replace(normalize(given, NFKD), '[\\u0300-\\u036f]', '', 'g'), NFC)${collation})
           collate "default" end
     $$`,
    // Stems, and no stop words: in a tracker, "not", "all" and "if" are names of things.
    `create text search dictionary muster_stem (template = snowball, language = english)`,
    `create text search configuration muster_words (copy = pg_catalog.english)`,
    `alter text search configuration muster_words
       alter mapping for asciiword, word, asciihword, hword, hword_asciipart, hword_part with muster_stem`,
    `create function muster_lexemes(plain text) returns tsvector language sql immutable parallel safe strict as $$
       select to_tsvector('muster_words'::regconfig, translate(plain, '${BETWEEN_WORDS}', '${SPACES}'))
     $$`,
    // Whatever is asked is words, all of them wanted: no operator, quote or hyphen means anything.
    `create function muster_query(plain text) returns tsquery language sql immutable parallel safe strict as $$
       select plainto_tsquery('muster_words'::regconfig, translate(plain, '${BETWEEN_WORDS}', '${SPACES}'))
     $$`,

    `create table search_texts (
       kind text not null check (kind in ('item', 'note')),
       id uuid not null,
       item_id uuid not null references items (id) on delete cascade,
       -- The title of an item, the key of a note.
       head text not null,
       -- Everything, the head included.
       body text not null,
       lexemes tsvector not null,
       changed_at timestamptz not null default muster_now(),
       primary key (id, kind)
     )`,
    `create index search_texts_item on search_texts (item_id)`,
    `create index search_texts_lexemes on search_texts using gin (lexemes)`,
    `create index search_texts_body on search_texts using gin (body gin_trgm_ops)`,
    `create index search_texts_head on search_texts using gin (head gin_trgm_ops)`,

    `create function search_text_of(item items) returns search_texts language sql stable as $$
       select row('item'::text, item.id, item.id, t.head, concat_ws(e'\\n', t.head, t.tags, t.summary, t.description),
         setweight(muster_lexemes(t.head), 'A') || setweight(muster_lexemes(t.tags), 'B')
           || setweight(muster_lexemes(t.summary), 'B') || setweight(muster_lexemes(t.description), 'C'),
         muster_now())::search_texts
       from (select muster_plain(item.title) as head, muster_plain(array_to_string(item.tags, ' ')) as tags,
         muster_plain(item.summary) as summary, muster_plain(coalesce(item.description, '')) as description) t
     $$`,
    `create function search_texts_of_new_items() returns trigger language plpgsql as $$
     begin
       insert into search_texts select t.* from added i cross join lateral search_text_of(i.*::items) t;
       return null;
     end $$`,
    `create trigger items_searchable after insert on items referencing new table as added
       for each statement execute function search_texts_of_new_items()`,
    `create function search_text_of_changed_item() returns trigger language plpgsql as $$
     begin
       update search_texts s set head = t.head, body = t.body, lexemes = t.lexemes, changed_at = t.changed_at
         from search_text_of(new) t where s.id = new.id and s.kind = 'item';
       return null;
     end $$`,
    `create trigger items_searchable_again after update of title, summary, description, tags on items for each row
       when ((old.title, old.summary, old.description, old.tags)
         is distinct from (new.title, new.summary, new.description, new.tags))
       execute function search_text_of_changed_item()`,

    `create function search_text_of_note(note notes) returns search_texts language sql stable as $$
       select row('note', note.id, note.item_id, t.head, concat_ws(e'\\n', t.head, t.body),
         setweight(muster_lexemes(t.head), 'A') || setweight(muster_lexemes(t.body), 'B'), muster_now())::search_texts
       from (select muster_plain(note.key) as head, muster_plain(note.body) as body) t
     $$`,
    `create function search_text_of_written_note() returns trigger language plpgsql as $$
     begin
       insert into search_texts select t.* from search_text_of_note(new) t
         on conflict (id, kind) do update set item_id = excluded.item_id, head = excluded.head, body = excluded.body,
           lexemes = excluded.lexemes, changed_at = excluded.changed_at;
       return null;
     end $$`,
    // A tree is written with hundreds of notes in one statement: once for all of them, not once for each.
    `create function search_texts_of_new_notes() returns trigger language plpgsql as $$
     begin
       insert into search_texts select t.* from added n cross join lateral search_text_of_note(n.*::notes) t
         on conflict (id, kind) do update set item_id = excluded.item_id, head = excluded.head, body = excluded.body,
           lexemes = excluded.lexemes, changed_at = excluded.changed_at;
       return null;
     end $$`,
    `create trigger notes_searchable after insert on notes referencing new table as added
       for each statement execute function search_texts_of_new_notes()`,
    `create trigger notes_searchable_again after update of item_id, key, body on notes for each row
       when ((old.item_id, old.key, old.body) is distinct from (new.item_id, new.key, new.body))
       execute function search_text_of_written_note()`,
    `create function search_text_of_deleted_note() returns trigger language plpgsql as $$
     begin
       delete from search_texts where id = old.id and kind = 'note';
       return null;
     end $$`,
    `create trigger notes_searchable_no_more after delete on notes for each row
       execute function search_text_of_deleted_note()`,

    `insert into search_texts select t.* from items i cross join lateral search_text_of(i) t`,
    `insert into search_texts select t.* from notes n cross join lateral search_text_of_note(n) t`,
  ];
}

export async function up(db: Kysely<unknown>): Promise<void> {
  const encoding = await sql<{ name: string }>`select getdatabaseencoding() as name`.execute(db);
  if (encoding.rows[0]?.name !== "UTF8") throw new Error(NOT_UTF8);
  await createTrigrams(db);
  const collation = await foldingCollation(db);
  for (const statement of statements(collation)) await sql.raw(statement).execute(db);
}

async function createTrigrams(db: Kysely<unknown>): Promise<void> {
  try {
    await sql`create extension if not exists pg_trgm`.execute(db);
  } catch (error) {
    throw new Error(NO_TRIGRAMS, { cause: error });
  }
}

/** The locale C leaves capital letters beyond ASCII as they are; another that is there does not. */
async function foldingCollation(db: Kysely<unknown>): Promise<string> {
  const found = await sql<{ name: string | null }>`
    select case when lower('É') = 'é' then null else (
      select collname from pg_collation where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8')
      order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8'], collname::text) limit 1) end as name`.execute(
    db,
  );
  const name = found.rows[0]?.name ?? null;
  return name === null ? "" : ` collate "${name}"`;
}
