/** `list_leases` and `list_lease_history`: who has which resource, and who had it when. */
import {
  type IntervalRow,
  type LeaseRow,
  listIntervals,
  listLive,
} from "../../../db/stores/lease-read-store.ts";
import type {
  LeaseInterval,
  ListLeaseHistoryInput,
  ListLeaseHistoryOutput,
} from "../../contract/operations/list-lease-history.ts";
import type {
  ListedLease,
  ListLeasesInput,
  ListLeasesOutput,
} from "../../contract/operations/list-leases.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { requireItem } from "../resolve-items.ts";
import { scopeFilter } from "../scope/scope-filter.ts";

export async function listLeases(
  deps: EngineDeps,
  input: ListLeasesInput,
  caller: Caller,
): Promise<ListLeasesOutput> {
  const { key, limit, offset } = input;
  return await inSnapshot(deps, async (handle) => {
    const ancestorId =
      input.ancestorId === undefined ? undefined : await requireItem(handle, input.ancestorId, caller);
    const { rows, total } = await listLive(handle, {
      key,
      ancestorId,
      limit,
      offset,
      ...scopeFilter(caller),
    });
    return { leases: rows.map(listedLease), total, hasMore: offset + rows.length < total, limit, offset };
  });
}

export async function listLeaseHistory(
  deps: EngineDeps,
  input: ListLeaseHistoryInput,
  caller: Caller,
): Promise<ListLeaseHistoryOutput> {
  const { limit, offset } = input;
  const rows = await listIntervals(deps.db, { ...input, limit: limit + 1, ...scopeFilter(caller) });
  return {
    intervals: rows.slice(0, limit).map(intervalOf),
    hasMore: rows.length > limit,
    limit,
    offset,
  };
}

function listedLease(row: LeaseRow): ListedLease {
  return {
    resourceKey: row.key,
    mode: row.mode,
    holderItemId: row.item_id,
    title: row.title,
    ...(row.acquired_by === null ? {} : { acquiredByActorId: row.acquired_by }),
    acquiredAt: row.acquired_at.toISOString(),
    originalAcquiredAt: row.original_acquired_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    held: row.held,
  };
}

function intervalOf(row: IntervalRow): LeaseInterval {
  const expiresAt = row.released_at ?? row.expires_at;
  return {
    resourceKey: row.key,
    mode: row.mode,
    holderItemId: row.item_id,
    ...(row.acquired_by === null ? {} : { acquiredByActorId: row.acquired_by }),
    acquiredAt: row.acquired_at.toISOString(),
    ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }),
    ...(row.released_at === null ? {} : { releasedAt: row.released_at.toISOString() }),
    ...(row.release_reason === null ? {} : { releaseReason: row.release_reason }),
    ...(row.released_by === null ? {} : { releasedByActorId: row.released_by }),
    ...(row.detail === null ? {} : { detail: row.detail }),
  };
}
