/**
 * Plans and rules of projects. Writers to a project's documents queue up behind its graph
 * lock; adopting a plan locks its row, so that of two trees only one is made from it.
 */
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

export type DocumentStatus = "pending" | "adopted";

/** A document without its body. */
export interface DocumentHead {
  readonly id: string;
  readonly root_id: string;
  readonly slug: string;
  readonly content_hash: string;
  readonly status: DocumentStatus;
  readonly adopted_by: string | null;
  readonly created_at: Date;
  readonly modified_at: Date;
}

export interface Document extends DocumentHead {
  readonly body: string;
}

const HEAD = "p.id, p.root_id, p.slug, p.content_hash, p.status, p.adopted_by, p.created_at, p.modified_at";

const bySlug = statement<Document>(
  "plan_documents_by_slug",
  `select ${HEAD}, p.body from plan_documents p where p.root_id = $1 and p.slug = $2`,
);

export async function findDocument(handle: Handle, rootId: string, slug: string): Promise<Document | null> {
  const [row] = await bySlug(handle, [rootId, slug]);
  return row ?? null;
}

const locked = statement<Document>(
  "plan_documents_lock",
  `select ${HEAD}, p.body from plan_documents p where p.root_id = $1 and p.slug = $2 for update of p`,
);

/** Nobody else replaces or adopts it before this transaction ends. */
export async function lockDocument(handle: Handle, rootId: string, slug: string): Promise<Document | null> {
  const [row] = await locked(handle, [rootId, slug]);
  return row ?? null;
}

const page = statement<DocumentHead & { total: number }>(
  "plan_documents_page",
  `select ${HEAD}, (count(*) over ())::int as total from plan_documents p
   where p.root_id = $1 and ($2::text is null or p.status = $2) and starts_with(p.slug, $3)
   order by p.slug collate "C" limit $4 offset $5`,
);

export interface DocumentFilter {
  readonly rootId: string;
  readonly status: DocumentStatus | null;
  /** What slugs start with. */
  readonly prefix: string;
  readonly limit: number;
  readonly offset: number;
}

/** By slug. A page behind the last one has no rows, and so no total. */
export async function listDocuments(
  handle: Handle,
  filter: DocumentFilter,
): Promise<{ readonly rows: readonly DocumentHead[]; readonly total: number | null }> {
  const { rootId, status, prefix, limit, offset } = filter;
  const rows = await page(handle, [rootId, status, prefix, limit, offset]);
  return { rows, total: rows[0]?.total ?? (offset === 0 ? 0 : null) };
}

const write = statement<DocumentHead>(
  "plan_documents_write",
  `with told as (
     insert into events (type, item_id, root_id, data)
     values ('document.stashed', $2, $2, jsonb_build_object('slug', $3::text, 'contentHash', $5::text))
   )
   insert into plan_documents as p (id, root_id, slug, body, content_hash, modified_by, actor, verification)
   values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb)
   on conflict (root_id, slug) do update set body = excluded.body, content_hash = excluded.content_hash,
     modified_at = greatest(muster_now(), p.modified_at + interval '1 millisecond'),
     modified_by = excluded.modified_by, actor = excluded.actor, verification = excluded.verification
   returning ${HEAD}`,
);

export interface DocumentText {
  /** For a document that is new; one that exists keeps its own. */
  readonly id: string;
  readonly rootId: string;
  readonly slug: string;
  readonly body: string;
  readonly contentHash: string;
}

export async function writeDocument(
  handle: Handle,
  { id, rootId, slug, body, contentHash }: DocumentText,
  author: Author,
): Promise<DocumentHead> {
  const [row] = await write(handle, [id, rootId, slug, body, contentHash, ...authorValues(author)]);
  if (row === undefined) throw new Error("a document was written and no row came back");
  return row;
}

const adopt = statement<DocumentHead>(
  "plan_documents_adopt",
  `with told as (
     insert into events (type, item_id, root_id, data)
     select 'document.adopted', $2, d.root_id, jsonb_build_object('slug', d.slug, 'documentId', d.id)
     from plan_documents d where d.id = $1
   )
   update plan_documents p set status = 'adopted', adopted_by = $2,
     modified_at = greatest(muster_now(), p.modified_at + interval '1 millisecond'),
     modified_by = $3, actor = $4::jsonb, verification = $5::jsonb
   where p.id = $1
   returning ${HEAD}`,
);

/** The item's tree was made from it; from now on it stays as it is. */
export async function adoptDocument(
  handle: Handle,
  id: string,
  itemId: string,
  author: Author,
): Promise<DocumentHead> {
  const [row] = await adopt(handle, [id, itemId, ...authorValues(author)]);
  if (row === undefined) throw new Error("a document was adopted and is not there");
  return row;
}
