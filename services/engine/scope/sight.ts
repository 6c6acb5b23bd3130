/** What of the ids in a call or in an answer the caller may know of. */
import { findSight } from "../../../db/stores/scope-store.ts";
import type { Handle } from "../../../db/statement.ts";

export interface Sight {
  /** True of what exists, or existed, outside the scope. What never existed is not hidden: there is nothing to hide. */
  isHidden(id: string): boolean;
  /** The item of the scope that this visible item lies in, itself included; undefined of what is no visible item. */
  topOf(id: string): string | undefined;
  /** Titles of hidden items, which must not be quoted either. */
  readonly titles: readonly string[];
}

const A_UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Every id that a text names. */
export function idsNamedIn(text: string): string[] {
  return [...new Set(text.match(A_UUID))];
}

/** Puts another text where an id stands, anywhere in a text. */
export function replaceIds(text: string, other: (id: string) => string): string {
  return text.replaceAll(A_UUID, other);
}

/** One statement, whatever the number of ids; none without any. */
export async function lookAt(
  handle: Handle,
  ids: readonly string[],
  scope: readonly string[],
): Promise<Sight> {
  const rows = ids.length === 0 ? [] : await findSight(handle, ids, scope);
  const hidden = new Set(rows.filter((row) => row.hidden).map((row) => row.id));
  const tops = new Map(rows.flatMap((row) => (row.top === null ? [] : [[row.id, row.top] as const])));
  const titles = rows.flatMap((row) => row.title ?? []);
  return { isHidden: (id) => hidden.has(id), topOf: (id) => tops.get(id), titles };
}
