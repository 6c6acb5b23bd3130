/**
 * What a process says of itself while it serves, for whoever looks at the whole installation:
 * its version, its configuration, its clock and its pool. Nothing is decided by it.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { OpenDatabase } from "../../../db/open.ts";
import { measureSkewMs, removeProcess, saveProcess } from "../../../db/stores/process-store.ts";
import type { ServerConfigFile } from "../config/server-config.ts";

export type ProcessKind = "api" | "scheduler" | "alone";

export interface PresenceDeps {
  readonly database: Pick<OpenDatabase, "db" | "poolUse">;
  readonly kind: ProcessKind;
  readonly version: string;
  readonly config: Pick<ServerConfigFile, "current">;
}

export interface Presence {
  /** To be called every few seconds: whoever was not heard for fifteen counts as gone. */
  say(): Promise<void>;
  leave(): Promise<void>;
}

export function createPresence({ database, kind, version, config }: PresenceDeps): Presence {
  const about = { id: randomUUID(), kind, version, host: hostname(), pid: process.pid };
  return {
    async say() {
      // Looked at before the statements below take a connection themselves.
      const pool = database.poolUse();
      const skewMs = await measureSkewMs(database.db);
      await saveProcess(database.db, { ...about, config: config.current().layer.fingerprint, skewMs, pool });
    },
    leave: () => removeProcess(database.db, about.id),
  };
}
