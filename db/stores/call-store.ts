/**
 * One row per call in the table of changes: who, with which credential, what, on what, and what
 * came of it. Rows go in by the batch, in the order of their ids, so that two transactions that
 * write of the same calls wait for each other in one direction only.
 */
import { type Handle, runGenerated, statement } from "../statement.ts";

export interface CallRow {
  readonly call_id: string;
  readonly credential: string | null;
  readonly operation: string | null;
  readonly args_sha256: string | null;
  readonly outcome: "ok" | "partial" | "refused" | "failed";
  readonly error_code: string | null;
  readonly latency_ms: number;
  readonly request_id: string;
  readonly item_id: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  /** What the call was about, as it was named. */
  readonly data: Readonly<Record<string, unknown>>;
}

const ROWS = `insert into audit_log (action, call_id, credential, operation, args_sha256, outcome, error_code,
     latency_ms, request_id, item_id, agent, session, data)
   select 'call', c.call_id, c.credential, c.operation, c.args_sha256, c.outcome, c.error_code,
     c.latency_ms, c.request_id, c.item_id, c.agent, c.session, c.data
   from jsonb_to_recordset($1::jsonb) as c(call_id uuid, credential text, operation text, args_sha256 text,
     outcome text, error_code text, latency_ms integer, request_id text, item_id uuid, agent text,
     session text, data jsonb)
   order by c.call_id
   on conflict (call_id) where call_id is not null`;

const note = statement<never>("audit_note_calls", `${ROWS} do nothing`);
const settle = statement<never>(
  "audit_settle_calls",
  `${ROWS} do update set outcome = excluded.outcome, error_code = excluded.error_code,
     latency_ms = excluded.latency_ms`,
);

/** In the transaction of what a call does; another part of the same call may have done so before. */
export async function noteCalls(handle: Handle, rows: readonly CallRow[]): Promise<void> {
  if (rows.length > 0) await note(handle, [JSON.stringify(rows)]);
}

/** After a call, with what came of it. */
export async function settleCalls(handle: Handle, rows: readonly CallRow[]): Promise<void> {
  if (rows.length > 0) await settle(handle, [JSON.stringify(rows)]);
}

export interface AuditFilter {
  readonly itemId?: string | undefined;
  readonly agent?: string | undefined;
  readonly credential?: string | undefined;
  readonly operation?: string | undefined;
  readonly outcome?: string | undefined;
  readonly requestId?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Below this number: where the page before ended. */
  readonly before?: number | undefined;
  /** Only about items that these show; null: everything. */
  readonly scope: readonly string[] | null;
  readonly limit: number;
}

export interface AuditRow {
  readonly id: number;
  readonly at: Date;
  readonly action: string;
  readonly item_id: string | null;
  readonly root_id: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly data: Record<string, unknown>;
  readonly credential: string | null;
  readonly operation: string | null;
  readonly args_sha256: string | null;
  readonly outcome: string | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
  readonly request_id: string | null;
}

/** Calls and changes, the newest first. */
export async function findAudit(handle: Handle, filter: AuditFilter): Promise<AuditRow[]> {
  const values: unknown[] = [];
  const where: string[] = [];
  const add = (condition: (value: string) => string, value: unknown): void => {
    if (value === undefined || value === null) return;
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  add((value) => `a.item_id = ${value}::uuid`, filter.itemId);
  add((value) => `a.agent = ${value}`, filter.agent);
  add((value) => `a.credential = ${value}`, filter.credential);
  add((value) => `a.operation = ${value}`, filter.operation);
  add((value) => `a.outcome = ${value}`, filter.outcome);
  add((value) => `a.request_id = ${value}`, filter.requestId);
  add((value) => `a.at >= ${value}::timestamptz`, filter.since);
  add((value) => `a.at < ${value}::timestamptz`, filter.until);
  add((value) => `a.id < ${value}::bigint`, filter.before);
  add(
    (value) =>
      `exists (select from items i where i.id = a.item_id and (i.ancestors || i.id) && ${value}::uuid[])`,
    filter.scope === null ? null : [...filter.scope],
  );
  values.push(filter.limit);
  const text = `select a.id, a.at, a.action, a.item_id, a.root_id, a.agent, a.session, a.data, a.credential,
      a.operation, a.args_sha256, a.outcome, a.error_code, a.latency_ms, a.request_id
    from audit_log a ${where.length === 0 ? "" : `where ${where.join(" and ")}`}
    order by a.id desc limit $${values.length}`;
  return await runGenerated<AuditRow>(handle, text, values);
}
