/**
 * What items said, on its way through the trash: notes, what they said before, and what the
 * items' own texts did, and the documents of projects. The lists of columns are spelled out, as in the trash store.
 */
import { type Handle, statement } from "../statement.ts";

/** Parts of a snapshot, as arguments of `jsonb_build_object`. $3: the items that are thrown away. */
export const TRASHED_TEXTS = `
  'notes', (select coalesce(jsonb_agg(to_jsonb(n) order by n.item_id, n.key), '[]')
    from notes n where n.item_id = any($3)),
  'note_versions', (select coalesce(jsonb_agg(to_jsonb(n) order by n.item_id, n.key, n.version), '[]')
    from note_versions n where n.item_id = any($3)),
  'item_versions', (select coalesce(jsonb_agg(to_jsonb(v) order by v.item_id, v.version), '[]')
    from item_versions v where v.item_id = any($3)),
  'plan_documents', (select coalesce(jsonb_agg(to_jsonb(p) order by p.root_id, p.slug), '[]')
    from plan_documents p where p.root_id = any($3))`;

// A snapshot that was made before there were notes has none.
const restoreNotes = statement<never>(
  "trash_restore_notes",
  `insert into notes (id, item_id, key, role, body, version, created_at, modified_at, agent, session, actor,
     verification, edits)
   select r.id, r.item_id, r.key, r.role, r.body, r.version, r.created_at, r.modified_at, r.agent, r.session, r.actor,
     r.verification, r.edits
   from trash t, jsonb_populate_recordset(null::notes, coalesce(t.snapshot -> 'notes', '[]')) r
   where t.id = $1`,
);

const restoreNoteVersions = statement<never>(
  "trash_restore_note_versions",
  `insert into note_versions (item_id, key, version, note_id, role, body, at, agent, session, actor, verification, edits)
   select r.item_id, r.key, r.version, r.note_id, r.role, r.body, r.at, r.agent, r.session, r.actor, r.verification,
     r.edits
   from trash t, jsonb_populate_recordset(null::note_versions, coalesce(t.snapshot -> 'note_versions', '[]')) r
   where t.id = $1`,
);

const restoreItemVersions = statement<never>(
  "trash_restore_item_versions",
  `insert into item_versions (item_id, version, before, edits, at, agent, session, actor, verification)
   select r.item_id, r.version, r.before, r.edits, r.at, r.agent, r.session, r.actor, r.verification
   from trash t, jsonb_populate_recordset(null::item_versions, coalesce(t.snapshot -> 'item_versions', '[]')) r
   where t.id = $1`,
);

// Whoever adopted a plan from elsewhere may be gone by now.
const restoreDocuments = statement<never>(
  "trash_restore_documents",
  `insert into plan_documents (id, root_id, slug, body, content_hash, status, adopted_by, created_at, modified_at,
     modified_by, actor, verification)
   select r.id, r.root_id, r.slug, r.body, r.content_hash, r.status, i.id, r.created_at, r.modified_at, r.modified_by,
     r.actor, r.verification
   from trash t, jsonb_populate_recordset(null::plan_documents, coalesce(t.snapshot -> 'plan_documents', '[]')) r
   left join items i on i.id = r.adopted_by
   where t.id = $1`,
);

/** Brings the texts back; their items are there already. */
export async function restoreTexts(handle: Handle, trashId: string): Promise<void> {
  await restoreNotes(handle, [trashId]);
  await restoreNoteVersions(handle, [trashId]);
  await restoreItemVersions(handle, [trashId]);
  await restoreDocuments(handle, [trashId]);
}
