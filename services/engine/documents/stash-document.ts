/** Storing a document. Writers of one project queue up behind its graph lock, as pushes of its configuration do. */
import { randomUUID } from "node:crypto";
import { lockGraph } from "../../../db/stores/graph-lock.ts";
import { lockDocument, writeDocument } from "../../../db/stores/plan-document-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { RULE_PREFIX } from "../../contract/documents.ts";
import { fault } from "../../contract/errors.ts";
import { PLAN_DOCUMENT_SIZE_MAX_BYTES, RULE_SIZE_MAX_BYTES } from "../../contract/limits.ts";
import type { StashDocument, StashDocumentOutput } from "../../contract/operations/manage-plan-documents.ts";
import { fingerprintOf } from "../config/read-config.ts";
import { requireRoot } from "../config/require-root.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { normalizeBody } from "../notes/write-notes.ts";
import { requireItem } from "../resolve-items.ts";
import { readBodyFile } from "../texts/body-file.ts";
import { isUnstorable } from "../writing/element-failure.ts";
import { transact } from "../writing/transact.ts";
import { describeCall, once, type WriteCall } from "../writing/write-call.ts";
import { toDocumentHead } from "./document-answers.ts";

export async function stashDocument(
  deps: EngineDeps,
  input: StashDocument,
  caller: Caller,
): Promise<StashDocumentOutput> {
  const call = describeCall("manage_plan_documents", input, caller);
  const rootId = await requireItem(deps.db, input.rootId, caller);
  // Before the transaction, which must not wait for a disk; thrown inside, where a retry finds its answer first.
  const read = await textOf(deps, input).then(
    (body) => () => body,
    (error: unknown) => () => {
      throw error;
    },
  );
  const result = await transact(deps, (tx) =>
    once(call, tx, "all", async () => ({
      answer: await stashIn(tx, call, rootId, input.slug, read()),
      targetId: rootId,
    })),
  ).catch((error: unknown) => {
    if (!isUnstorable(error)) throw error;
    throw fault("VALIDATION_ERROR", "body: holds text that cannot be stored, such as a NUL character");
  });
  return result.replayed ? { ...result.answer, replayed: true } : result.answer;
}

async function textOf(deps: EngineDeps, { slug, body, bodyFromFile }: StashDocument): Promise<string> {
  const text = bodyFromFile === null ? body : await readBodyFile(deps.settings.filesDir, bodyFromFile);
  const plain = normalizeBody((text ?? "").replace(/^\uFEFF/, ""));
  const isRule = slug.startsWith(RULE_PREFIX);
  const max = isRule ? RULE_SIZE_MAX_BYTES : PLAN_DOCUMENT_SIZE_MAX_BYTES;
  const size = Buffer.byteLength(plain);
  if (size <= max) return plain;
  throw fault(
    "VALIDATION_ERROR",
    `body: has ${size} bytes; a ${isRule ? "rule" : "plan"} has at most ${max}`,
    {
      details: { maxBytes: max, actualBytes: size },
      hint: isRule ? "Split it into several rules." : "Split it into several plans.",
    },
  );
}

async function stashIn(
  tx: Handle,
  call: WriteCall,
  rootId: string,
  slug: string,
  body: string,
): Promise<StashDocumentOutput> {
  await lockGraph(tx, [rootId], "exclusive");
  await requireRoot(tx, rootId);
  const before = await lockDocument(tx, rootId, slug);
  if (before?.status === "adopted") {
    throw fault("CONFLICT_ERROR", `the plan "${slug}" was adopted; it stays what its tree was made from`, {
      details: { documentId: before.id, adoptedByItemId: before.adopted_by },
      hint: "Stash the new text under another slug.",
    });
  }
  const contentHash = fingerprintOf(body);
  if (before?.content_hash === contentHash) return { ...toDocumentHead(before), changed: false };
  const written = await writeDocument(tx, { id: randomUUID(), rootId, slug, body, contentHash }, call.author);
  return { ...toDocumentHead(written), changed: true };
}
