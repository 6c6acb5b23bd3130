/** Reads that must agree with each other, in one transaction that changes nothing and waits for nobody. */
import type { Handle } from "../../../db/statement.ts";
import type { EngineDeps } from "../deps.ts";

export function inSnapshot<T>(deps: EngineDeps, read: (handle: Handle) => Promise<T>): Promise<T> {
  return deps.db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(read);
}
