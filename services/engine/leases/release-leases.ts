/**
 * `release_leases`: an operator takes a resource away. The items keep their role and their
 * claims; their holders are told at their next call, and whoever waits may have it.
 */
import { findHaving } from "../../../db/stores/lease-read-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { ReleaseLeasesInput, ReleaseLeasesOutput } from "../../contract/operations/release-leases.ts";
import { forceRelease } from "../../core/leases/hold-leases.ts";
import { NotLocked, type World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { afterCommit, lockPart, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { describeCall, once, type WriteCall } from "../writing/write-call.ts";

interface Released extends Record<string, unknown> {
  readonly resourceKey: string;
  readonly releasedCount: number;
  readonly itemIds: string[];
}

export async function releaseLeases(
  deps: EngineDeps,
  input: ReleaseLeasesInput,
  caller: Caller,
): Promise<ReleaseLeasesOutput> {
  const call = describeCall("release_leases", input, caller);
  let world: World | null = null;
  const { answer, replayed } = await transact(deps, async (tx, wider) => {
    world = null;
    return await once<Released>(call, tx, "all", async () => {
      const done = await release(deps, tx, wider, call, input, caller.access.scope);
      world = done.world;
      return { answer: done.answer, targetId: null };
    });
  });
  if (world !== null) {
    afterCommit(deps, world);
    await hearNext(deps, world, answer.itemIds);
  }
  return replayed ? { ...answer, replayed } : answer;
}

async function release(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  call: WriteCall,
  { key, reason }: ReleaseLeasesInput,
  scope: readonly string[] | null,
): Promise<{ readonly answer: Released; readonly world: World }> {
  const having = await findHaving(tx, key, scope);
  const known = { ...wider, keys: [...wider.keys, key] };
  const world = await lockPart(deps, tx, known, { alone: having });
  const all = world.leases.leasesOn(key);
  const seen = new Set(having);
  // What others have stays theirs.
  const leases = scope === null ? all : all.filter(({ itemId }) => seen.has(itemId));
  // Taken between the look and the lock: its item's row has to be locked before the key.
  const missing = leases.filter(({ itemId }) => world.find(itemId) === undefined);
  if (missing.length > 0) throw new NotLocked(missing.map(({ itemId }) => itemId));
  const by = { agent: call.agent ?? "", reason };
  const itemIds = leases.map(({ itemId }) => itemId).filter((id) => forceRelease(world, id, key, by));
  if (itemIds.length === 0) throw fault("RESOURCE_NOT_FOUND", `nobody has ${key}`, { hint: NOT_HAD });
  await saveWorld(tx, world);
  return { answer: { resourceKey: key, releasedCount: itemIds.length, itemIds }, world };
}

const NOT_HAD = "Nothing to do: list the leases to see what is taken.";

/**
 * A heartbeat hardly ever asks the database, and would not hear of it. The clock is told that
 * the database was last written long ago: so the next one does, and is answered from there.
 */
async function hearNext(deps: EngineDeps, world: World, itemIds: readonly string[]): Promise<void> {
  for (const id of itemIds) {
    const state = world.find(id);
    if (!state?.claim) continue;
    const { ttlMs } = state.claim;
    await deps.coordination.claimClock.touch([{ key: id, fence: state.fence, ttlMs }], world.now - ttlMs);
  }
}
