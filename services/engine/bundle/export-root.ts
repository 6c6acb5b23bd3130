/** Writes a root out, as it stands at one instant. */
import { BUNDLED_TABLES, readBundled } from "../../../db/stores/bundle-store.ts";
import { fault } from "../../contract/errors.ts";
import type { EngineDeps } from "../deps.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { requireRoot } from "../config/require-root.ts";
import { FULL_ACCESS } from "../access.ts";
import { resolveItem } from "../resolve-items.ts";
import { BUNDLE_FORMAT } from "../../contract/root-bundle.ts";

const PAGE = 500;

/**
 * Hands out line by line; whoever takes them must not wait long, since one transaction is open.
 * Answers how many rows of each table there were.
 * @throws MusterError RESOURCE_NOT_FOUND, or VALIDATION_ERROR if the item is no root
 */
export async function exportRoot(
  deps: EngineDeps,
  ref: string,
  version: string,
  write: (line: string) => void,
): Promise<Readonly<Record<string, number>>> {
  return await inSnapshot(deps, async (handle) => {
    const resolved = await resolveItem(handle, ref, { access: FULL_ACCESS });
    if (!resolved.ok) throw resolved.error;
    const rootId = resolved.id;
    await requireRoot(handle, rootId);
    write(JSON.stringify({ muster: "root", format: BUNDLE_FORMAT, rootId, version }));
    const counts: Record<string, number> = {};
    for (const table of BUNDLED_TABLES) {
      counts[table] = 0;
      for (let offset = 0; ; offset += PAGE) {
        const rows = await readBundled(handle, table, rootId, { limit: PAGE, offset });
        for (const row of rows) write(JSON.stringify({ table, row }));
        counts[table] += rows.length;
        if (rows.length < PAGE) break;
      }
    }
    if (counts["items"] === 0) throw fault("RESOURCE_NOT_FOUND", `there is no item ${rootId}`);
    write(JSON.stringify({ muster: "end", rows: counts }));
    return counts;
  });
}
