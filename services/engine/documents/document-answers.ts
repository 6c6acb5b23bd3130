/** Documents as callers read them. */
import type { DocumentHead } from "../../../db/stores/plan-document-store.ts";
import type { DocumentHeadAnswer } from "../../contract/documents.ts";

export function toDocumentHead(head: DocumentHead): DocumentHeadAnswer {
  return {
    id: head.id,
    rootId: head.root_id,
    slug: head.slug,
    contentHash: head.content_hash,
    status: head.status,
    createdAt: head.created_at.toISOString(),
    updatedAt: head.modified_at.toISOString(),
    ...(head.adopted_by === null ? {} : { adoptedByItemId: head.adopted_by }),
  };
}
