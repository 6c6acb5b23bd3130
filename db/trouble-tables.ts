/** The tables of retention and of broken roots, as Kysely sees them; see migration 0017. */
import type { Generated } from "kysely";
import type { DefaultInstant, Instant } from "./column-types.ts";

export interface RetentionPassesTable {
  name: string;
  position: Generated<number>;
  finished_at: Instant | null;
  deleted: Generated<number>;
}

export interface RootEndsTable {
  id: Generated<number>;
  root_id: string;
  at: DefaultInstant;
  environment: boolean;
}

export interface RootBreakersTable {
  root_id: string;
  opened_at: Instant;
  reason: string | null;
  failures: number;
  ends: number;
  probe_at: Instant;
  probes: Generated<number>;
  probe_item: string | null;
  probe_fence: number | null;
}
