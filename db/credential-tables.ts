/** Tokens, and what the rows of calls have that those of changes have not; see migration 0013. */
import type { DefaultInstant, Instant } from "./column-types.ts";

export interface ApiTokensTable {
  id: string;
  secret_sha256: string;
  name: string;
  capabilities: string[];
  root_ids: string[] | null;
  pinned_root: string | null;
  agent: string | null;
  created_at: DefaultInstant;
  created_by: string | null;
  expires_at: Instant;
  last_used_at: Instant | null;
  rotated_at: Instant | null;
  revoked_at: Instant | null;
  revoked_by: string | null;
  revoke_reason: string | null;
}

/** All null in the row of a change. */
export interface CallColumns {
  call_id: string | null;
  credential: string | null;
  operation: string | null;
  args_sha256: string | null;
  outcome: "ok" | "partial" | "refused" | "failed" | null;
  error_code: string | null;
  latency_ms: number | null;
  request_id: string | null;
}
