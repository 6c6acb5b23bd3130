/**
 * `manage_plan_documents`: plans and rules of a project. A plan is written over for as long as
 * nothing was made from it; once a tree adopted it, it stays what that tree was made from.
 */
import { findDocument, listDocuments } from "../../../db/stores/plan-document-store.ts";
import { fault } from "../../contract/errors.ts";
import type {
  GetDocument,
  GetDocumentOutput,
  ListDocuments,
  ListDocumentsOutput,
  ManagePlanDocumentsInput,
  ManagePlanDocumentsOutput,
} from "../../contract/operations/manage-plan-documents.ts";
import { requireRoot } from "../config/require-root.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { endOfPart } from "../queries/end-of-part.ts";
import { requireItem } from "../resolve-items.ts";
import { toDocumentHead } from "./document-answers.ts";
import { stashDocument } from "./stash-document.ts";
import type { Looker } from "../access.ts";

export async function managePlanDocuments(
  deps: EngineDeps,
  input: ManagePlanDocumentsInput,
  caller: Caller,
): Promise<ManagePlanDocumentsOutput> {
  switch (input.operation) {
    case "stash":
      return await stashDocument(deps, input, caller);
    case "get":
      return await getDocument(deps, input, caller);
    case "list":
      return await listPage(deps, input, caller);
  }
}

async function getDocument(
  deps: EngineDeps,
  { rootId, slug, offset }: GetDocument,
  caller: Looker,
): Promise<GetDocumentOutput> {
  const id = await requireItem(deps.db, rootId, caller);
  await requireRoot(deps.db, id);
  const found = await findDocument(deps.db, id, slug);
  if (found === null) {
    throw fault("RESOURCE_NOT_FOUND", `the project ${id} has no document "${slug}"`, {
      hint: "List its documents with manage_plan_documents, operation list.",
    });
  }
  const end = endOfPart(found.body, offset);
  return {
    ...toDocumentHead(found),
    body: found.body.slice(offset, end),
    ...(end < found.body.length ? { nextOffset: end } : {}),
  };
}

async function listPage(
  deps: EngineDeps,
  input: ListDocuments,
  caller: Looker,
): Promise<ListDocumentsOutput> {
  const { status, limit, offset } = input;
  const rootId = await requireItem(deps.db, input.rootId, caller);
  await requireRoot(deps.db, rootId);
  const page = { rootId, status: status ?? null, prefix: "", limit, offset };
  const { rows, total } = await listDocuments(deps.db, page);
  return {
    rootId,
    plans: rows.map(toDocumentHead),
    returned: rows.length,
    hasMore: offset + rows.length < (total ?? 0),
    ...(total === null ? {} : { total }),
    offset,
  };
}
