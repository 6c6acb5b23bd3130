/** What can be asked about an installation, for `muster doctor` to judge. Types alone: the command line may know them. */
import type { SchemaObject } from "../../db/stores/catalogue-store.ts";
import type { ServingProcess } from "../../db/stores/process-store.ts";
import type { CoordinationHealth } from "../coordination/port.ts";

export type { ServingProcess };

export interface Diagnosis {
  /** Indexes and triggers that a database of this version has and this one lacks, or has broken. */
  missingObjects(): Promise<SchemaObject[]>;
  /** Items whose copies for the selector say something else than they do; at most a thousand. */
  changedCopies(): Promise<string[]>;
  /** Writes the copies of these items anew. Answers how many it changed. */
  repairCopies(ids: readonly string[]): Promise<number>;
  /** How far this machine's clock is ahead of the database's. */
  skewMs(): Promise<number>;
  /** The processes that serve right now. */
  processes(): Promise<ServingProcess[]>;
  sweep(): Promise<{
    readonly ageMs: number | null;
    readonly overdue: number;
    readonly oldestMs: number | null;
  }>;
  /** Connections of the whole database server; null of the embedded one. */
  connections(): Promise<{ readonly used: number; readonly max: number } | null>;
  coordination(): Promise<CoordinationHealth>;
  /** Claims that live and that the coordination has forgotten about; how long that matters at most. */
  forgottenClaims(sinceMs: number | null): Promise<{ readonly claims: number; readonly ttlMs: number }>;
}
