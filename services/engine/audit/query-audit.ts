/** `query_audit`: calls and changes, the newest first; within the caller's scope, so that what is gone is not shown. */
import { type AuditRow, findAudit } from "../../../db/stores/call-store.ts";
import type {
  AuditEntryAnswer,
  QueryAuditInput,
  QueryAuditOutput,
} from "../../contract/operations/query-audit.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";

export async function queryAudit(
  { db }: EngineDeps,
  input: QueryAuditInput,
  { access }: Caller,
): Promise<QueryAuditOutput> {
  const { limit } = input;
  const rows = await findAudit(db, { ...input, scope: access.scope, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    entries: shown.map(entryOf),
    hasMore,
    ...(hasMore && last !== undefined ? { nextBefore: last.id } : {}),
  };
}

function entryOf(row: AuditRow): AuditEntryAnswer {
  const target = row.data["target"];
  const known = {
    operation: row.operation,
    credential: row.credential,
    agent: row.agent,
    session: row.session,
    itemId: row.item_id,
    target: typeof target === "string" ? target : null,
    outcome: row.outcome,
    errorCode: row.error_code,
    latencyMs: row.latency_ms,
    requestId: row.request_id,
    argsSha256: row.args_sha256,
  };
  const said = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
  return { id: row.id, at: row.at.toISOString(), action: row.action, ...said };
}
