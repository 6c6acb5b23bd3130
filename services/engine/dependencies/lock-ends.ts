/** Locks what an edge is judged by and changes: both ends, and what is below an end that is a container. */
import { type DependencyRow, findParents } from "../../../db/stores/dependency-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { withTenuresAbove } from "../writing/doors.ts";
import { lockWorld, type Wider } from "../writing/transact.ts";
import type { WriteCall } from "../writing/write-call.ts";

export interface LockedEnds {
  readonly world: World;
  readonly blocking: readonly DependencyRow[];
  /** Which of the blocked items have children: those wait with it. */
  readonly containers: ReadonlySet<string>;
}

/** The ends of the rows, each once. */
export function endsOf(rows: readonly DependencyRow[]): string[] {
  return [...new Set(rows.flatMap((row) => [row.from_item, row.to_item]))];
}

export async function lockEnds(
  deps: EngineDeps,
  tx: Handle,
  call: WriteCall,
  wider: Wider,
  rows: readonly DependencyRow[],
): Promise<LockedEnds> {
  const ends = endsOf(rows);
  const blocking = rows.filter((row) => row.type === "BLOCKS");
  const containers = await findParents(
    tx,
    blocking.map((row) => row.to_item),
  );
  const subtrees = [...new Set([...wider.subtrees, ...containers])];
  const tenures = await withTenuresAbove(tx, call, ends);
  const locked = { ...wider, items: [...wider.items, ...tenures], subtrees };
  return { world: await lockWorld(deps, tx, ends, locked, "none"), blocking, containers };
}
