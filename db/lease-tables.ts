/** The tables of resource leases, as Kysely sees them; see migration 0007. */
import type { ColumnType, Generated } from "kysely";

type Instant = ColumnType<Date, Date | string, Date | string>;

export interface ResourceKeysTable {
  key: string;
  ended_at: Instant | null;
}

export interface ResourceLeasesTable {
  item_id: string;
  key: string;
  mode: "exclusive" | "shared";
  ttl_ms: number;
  fence: number;
  acquired_by: string | null;
  acquired_at: Instant;
  original_acquired_at: Instant;
  /** Of an item that nobody holds; a held item's leases end with its claim. */
  expires_at: Instant;
}

export interface ResourceLeaseHistoryTable {
  id: Generated<number>;
  item_id: string;
  key: string;
  mode: "exclusive" | "shared";
  fence: number;
  acquired_by: string | null;
  acquired_at: Instant;
  released_at: Instant | null;
  release_reason: "released" | "expired" | "force_released" | null;
  released_by: string | null;
  detail: string | null;
}

export interface ResourceTicketsTable {
  item_id: string;
  key: string;
  number: number;
  fence: number;
  role_changed_at: Instant;
  issued_at: Instant;
}
