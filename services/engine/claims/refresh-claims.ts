/**
 * Heartbeats. A refresh only ever refreshes: it never takes a free item, and one whose
 * tenure is over answers `claim_lost`.
 *
 * The claim clock takes most of them. The database is written when it has less than half
 * a ttl left, when the ttl changes, or when the clock cannot say, and always before the
 * answer: so the clock is never more than half a ttl ahead of the truth. No idempotency
 * row, no event, no version: a heartbeat disturbs nothing.
 */
import {
  findWhyNotRenewed,
  type RenewedRow,
  renewTenure,
  renewTenures,
  type Renewal,
} from "../../../db/stores/renew-store.ts";
import type { RefreshEntry, RefreshResult } from "../../contract/operations/claim-item.ts";
import { ERRORS } from "../../contract/errors.ts";
import { TENURE_MS } from "../../core/claim.ts";
import { asFault } from "../database-fault.ts";
import type { EngineDeps } from "../deps.ts";
import type { Identified } from "../identity.ts";
import { resolveItem } from "../resolve-items.ts";
import { type Coalescer, createCoalescer } from "../writing/coalescer.ts";
import type { TenureMemory } from "./tenure-memory.ts";
import type { Looker } from "../access.ts";

/** Null: the row was not renewed, or is locked; that is looked into apart, since it is rare. */
export type RenewalLane = Coalescer<Renewal, RenewedRow | null>;

export function createRenewalLane(deps: EngineDeps): RenewalLane {
  const run = async (renewals: readonly Renewal[]): Promise<(RenewedRow | null)[]> => {
    const rows = await renewTenures(deps.db, renewals, TENURE_MS);
    return renewals.map((one) => rows.get(one.itemId) ?? null);
  };
  return createCoalescer<Renewal, RenewedRow | null>({
    maxBatch: 500,
    lanes: 2,
    exclusive: (renewal) => [renewal.itemId],
    runBatch: run,
    runOne: async (renewal) => (await run([renewal]))[0] ?? null,
    onBatchError: (error, size) => deps.log.info({ err: error, size }, "renewal batch retried one by one"),
  });
}

interface Beat {
  readonly itemId: string;
  readonly entry: RefreshEntry;
  readonly known: { readonly ttlMs: number } | null;
}

export async function refreshClaims(
  deps: EngineDeps,
  lane: RenewalLane,
  memory: TenureMemory,
  entries: readonly RefreshEntry[],
  who: Identified,
  caller: Looker,
): Promise<RefreshResult[]> {
  if (entries.length === 0) return [];
  const now = await deps.time.now();
  const results = new Map<number, RefreshResult>();
  const beats = new Map<number, Beat>();
  for (const [index, entry] of entries.entries()) {
    const resolved = await resolveItem(deps.db, entry.itemId, caller);
    if (resolved.ok) beats.set(index, toBeat(memory, resolved.id, entry, who, now));
    else results.set(index, lost(entry.itemId, "not_found"));
  }
  await renewAll(deps, lane, memory, who, beats, results, now);
  return entries.map((entry, index) => results.get(index) ?? lost(entry.itemId, "claim_lost"));
}

/** A tenure that is known here, with this fence and agent, and far from its cap, need not touch the database. */
function toBeat(
  memory: TenureMemory,
  itemId: string,
  entry: RefreshEntry,
  who: Identified,
  now: number,
): Beat {
  const tenure = memory.find(itemId);
  const asked = entry.ttlSeconds === undefined ? undefined : entry.ttlSeconds * 1000;
  const isKnown =
    tenure !== undefined &&
    tenure.fence === entry.fence &&
    tenure.agent === who.agent &&
    // Whoever is drained hears so every time, and only the database knows when that is over.
    !tenure.drained &&
    now + (asked ?? tenure.ttlMs) < tenure.originalClaimedAt + TENURE_MS;
  return {
    itemId,
    entry,
    known: isKnown ? { ttlMs: asked ?? tenure.ttlMs } : null,
  };
}

async function renewAll(
  deps: EngineDeps,
  lane: RenewalLane,
  memory: TenureMemory,
  who: Identified,
  beats: ReadonlyMap<number, Beat>,
  results: Map<number, RefreshResult>,
  now: number,
): Promise<void> {
  const known = [...beats].filter(
    (one): one is [number, Beat & { known: NonNullable<Beat["known"]> }] => one[1].known !== null,
  );
  const heard = await deps.coordination.claimClock.renew(
    known.map(([, beat]) => ({ key: beat.itemId, fence: beat.entry.fence, ttlMs: beat.known.ttlMs })),
    now,
  );
  for (const [position, [index, beat]] of known.entries()) {
    if (heard[position] === "ok")
      results.set(index, renewed(beat.itemId, beat.entry.fence, now + beat.known.ttlMs, now));
  }
  const written = [...beats].filter(([index]) => !results.has(index));
  await Promise.all(
    written.map(async ([index, beat]) => results.set(index, await writeBeat(deps, lane, memory, who, beat))),
  );
}

async function writeBeat(
  deps: EngineDeps,
  lane: RenewalLane,
  memory: TenureMemory,
  who: Identified,
  beat: Beat,
): Promise<RefreshResult> {
  const renewal: Renewal = {
    itemId: beat.itemId,
    fence: beat.entry.fence,
    agent: who.agent ?? "",
    session: who.session,
    ttlMs: beat.entry.ttlSeconds === undefined ? null : beat.entry.ttlSeconds * 1000,
  };
  try {
    // A row that is locked is waited for here, where nobody else waits with it.
    const row = (await lane.submit(renewal)) ?? (await renewTenure(deps.db, renewal, TENURE_MS));
    if (row === null) {
      memory.forget(beat.itemId);
      const [why] = await findWhyNotRenewed(deps.db, [renewal], TENURE_MS);
      return lost(beat.itemId, why ?? "claim_lost");
    }
    await deps.coordination.claimClock.touch(
      [{ key: row.itemId, fence: row.fence, ttlMs: row.ttlMs }],
      row.now,
    );
    const before = memory.find(row.itemId)?.modifiedAt ?? null;
    memory.remember(row.itemId, row);
    // Nothing was read at the claim itself, but what changed since is newer than the claim.
    const changed = before === null ? row.modifiedAt > row.claimedAt : before !== row.modifiedAt;
    return {
      ...renewed(row.itemId, row.fence, row.expiresAt, row.now),
      ...(changed ? { changed: true } : {}),
      ...(row.drained ? { drain: true } : {}),
      ...(row.lostLeases.length === 0 ? {} : { lostResources: [...row.lostLeases] }),
    };
  } catch (error) {
    // A heartbeat that could not be written is not a lost claim: the holder tries again.
    const failure = asFault(error);
    deps.log.warn({ err: error, itemId: beat.itemId }, "heartbeat not written");
    return { itemId: beat.itemId, outcome: "db_error", error: failure.message, hint: failure.hint };
  }
}

function renewed(itemId: string, fence: number, expiresAt: number, now: number): RefreshResult {
  return {
    itemId,
    outcome: "success",
    claimExpiresAt: new Date(expiresAt).toISOString(),
    msLeft: Math.max(0, expiresAt - now),
    fence,
  };
}

const CAUSES = {
  not_found: "no item has this id",
  claim_lost: "this claim has ended",
  tenure_over: "this claim reached its longest tenure",
} as const;

function lost(itemId: string, outcome: keyof typeof CAUSES): RefreshResult {
  return { itemId, outcome, error: CAUSES[outcome], hint: ERRORS[outcome].hint };
}
