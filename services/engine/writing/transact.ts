/**
 * The frame of every mutating use case: one transaction that locks, decides and writes,
 * started over with a wider set when the decision reached a row that nobody had locked;
 * then, after the commit and never before, the clock and the waiting claims are told.
 */
import { type Handle } from "../../../db/statement.ts";
import { inTransaction, isCountRefused, StartOver, type Tail } from "../../../db/transaction.ts";
import type { SavedAnswer } from "../../../db/stores/idempotency-store.ts";
import { saveLeases } from "../../../db/stores/lease-store.ts";
import { saveWorld as saveRows } from "../../../db/stores/save-world.ts";
import { loadWorld, type LoadWorld } from "../../../db/stores/world-store.ts";
import { NotLocked, type World } from "../../core/world.ts";
import { configuredFor } from "../config/configured.ts";
import type { EngineDeps, EngineWatcher } from "../deps.ts";
import { declaredBy } from "../leases/declared-by.ts";
import { leasesAhead, type Moving, NOTHING_MOVES } from "../leases/leases-ahead.ts";

/** Rows and resources that an earlier try turned out to need. */
export interface Wider {
  readonly items: readonly string[];
  readonly subtrees: readonly string[];
  readonly keys: readonly string[];
  /** Told which parents are about to be counted without a lock; locked next time if one of them closes. */
  readonly count: (parents: Iterable<string>) => void;
}

/** Runs `work`, again with a wider set for as long as it asks for one. */
export async function transact<T>(
  deps: EngineDeps,
  work: (tx: Handle, wider: Wider, tail: Tail) => Promise<T>,
): Promise<T> {
  const items = new Set<string>();
  const subtrees = new Set<string>();
  const keys = new Set<string>();
  let counted: readonly string[] = [];
  const count = (parents: Iterable<string>): void => {
    counted = [...parents];
  };
  const run = (): Promise<T> =>
    inTransaction(deps.db, async (tx, tail) => {
      try {
        return await work(tx, { items: [...items], subtrees: [...subtrees], keys: [...keys], count }, tail);
      } catch (error) {
        if (!(error instanceof NotLocked)) throw error;
        for (const id of error.items) items.add(id);
        for (const id of error.subtrees) subtrees.add(id);
        for (const key of error.keys) keys.add(key);
        throw new StartOver(error.message);
      }
    });
  for (;;) {
    try {
      return await run();
    } catch (error) {
      // Each time at least one parent more is locked, and locked ones are not counted.
      if (!isCountRefused(error) || counted.every((id) => items.has(id))) throw error;
      for (const id of counted) items.add(id);
    }
  }
}

/** Locks and loads the items with what `load` says about their neighbours; with all of them if it says nothing. */
export async function lockWorld(
  deps: EngineDeps,
  tx: Handle,
  items: readonly string[],
  wider: Omit<Wider, "count">,
  neighbours: "all" | "none" = "all",
): Promise<World> {
  return await lockPart(deps, tx, wider, neighbours === "all" ? { closing: items } : { alone: items });
}

/** The same for a set of which not all may close; see {@link LoadWorld}. */
export async function lockPart(
  deps: EngineDeps,
  tx: Handle,
  wider: Omit<Wider, "count">,
  part: Pick<LoadWorld, "closing" | "starting" | "alone" | "ahead" | "counted">,
  moving: Moving = NOTHING_MOVES,
): Promise<World> {
  return await loadWorld(tx, {
    ...part,
    extra: wider,
    leasesOf: (judged, { schemaOf }) =>
      leasesAhead(tx, judged, moving, wider.keys, declaredBy(deps, schemaOf)),
    configured: (found) => configuredFor(deps, tx, found),
    onCancelled: deps.settings.onCancelled,
  });
}

/** Writes what was decided: the rows, the answers under their keys, and the leases that go with them. */
export async function saveWorld(
  handle: Handle,
  world: World,
  answers: readonly SavedAnswer[] = [],
): Promise<void> {
  await Promise.all([saveRows(handle, world, answers), saveLeases(handle, world)]);
}

/** The one topic of claims that wait: something may have become claimable. */
export const CLAIMABLE = "claimable";

/** Some tenure ended: for orchestrators that wait for those whom they dispatched. */
export const TENURE_ENDED = "tenure-ended";

/**
 * Tells the clock what ended and began, and wakes waiting claims. Nobody waits for it: what
 * is lost here is made good by the clock's own rules and by the waiters' own pace.
 */
export function afterCommit(deps: EngineDeps, world: World): void {
  if (world.now > 0) deps.time.observe(world.now);
  if (deps.watcher !== undefined) tellEnds(deps.watcher, world);
  const { claimClock, wakeUps } = deps.coordination;
  if (world.ended.length > 0) {
    const ended = world.ended.map(({ itemId, fence }) => ({ key: itemId, fence, ttlMs: 60_000 }));
    void claimClock.drop(ended, world.now);
  }
  const live = world.opened.flatMap(({ itemId, fence }) => {
    const state = world.find(itemId);
    return state?.fence === fence && state.claim !== null
      ? [{ key: itemId, fence, ttlMs: state.claim.ttlMs }]
      : [];
  });
  if (live.length > 0) void claimClock.touch(live, world.now);
  const topics = [
    ...(offersMore(world) ? [CLAIMABLE] : []),
    ...(world.ended.length > 0 ? [TENURE_ENDED] : []),
  ];
  if (topics.length > 0) wakeUps.publish(topics);
}

function tellEnds(watcher: EngineWatcher, { ended, opened }: World): void {
  const claimed = new Set(opened.map(({ itemId }) => itemId));
  for (const { itemId, reason } of ended) {
    watcher.attemptEnded(reason);
    if (reason === "expired" && claimed.has(itemId)) watcher.takenOver();
  }
}

/** Something became claimable, a resource came free, or the claim on a container ended, which kept others from what is below it. */
function offersMore(world: World): boolean {
  if (world.becameClaimable().length > 0 || world.leases.lastEnds().size > 0) return true;
  return world.ended.some(({ itemId }) => (world.find(itemId)?.openChildren ?? 0) > 0);
}
