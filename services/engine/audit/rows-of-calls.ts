/** The rows of calls whose effects are written together. */
import type { CallRow } from "../../../db/stores/call-store.ts";
import type { CallRecord } from "./call-record.ts";

/** One row for each call, however many of its elements are here. */
export function rowsOfCalls(parts: readonly { readonly audit?: CallRecord | undefined }[]): CallRow[] {
  const records = new Set(parts.flatMap(({ audit }) => (audit === undefined ? [] : [audit])));
  return [...records].map((record) => record.row());
}
