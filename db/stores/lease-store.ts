/**
 * Leases and tickets of the keys that a decision needs: locked and read in one call after
 * the rows of the items, and what was decided about them written in one.
 */
import type { Lease, LeaseMode, Ticket, WithClaim } from "../../services/core/leases/lease.ts";
import { type Declared, type Interval, LeaseBook } from "../../services/core/leases/lease-book.ts";
import type { ItemState } from "../../services/core/state.ts";
import type { World } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";

interface ClaimRow {
  readonly fence: number;
  readonly ttl_ms: number;
  readonly expires_at: number;
}

interface LeaseRow {
  readonly item_id: string;
  readonly key: string;
  readonly mode: LeaseMode;
  readonly ttl_ms: number;
  readonly fence: number;
  readonly acquired_by: string | null;
  readonly acquired_at: number;
  readonly original_acquired_at: number;
  readonly expires_at: number;
  readonly claim: ClaimRow | null;
}

interface TicketRow extends ClaimRow {
  readonly item_id: string;
  readonly key: string;
  readonly number: number;
}

interface Found {
  readonly keys: readonly { readonly key: string; readonly ended_at: number }[] | null;
  readonly leases: readonly LeaseRow[] | null;
  readonly tickets: readonly TicketRow[] | null;
}

/** See migration 0007. */
const open = statement<{ found: Found }>("leases_open", `select muster_open_leases($1::text[]) as found`);
const peek = statement<{ found: Found }>("leases_peek", `select muster_leases($1::text[]) as found`);

type DeclaredBy = (item: ItemState) => Declared;

/** Locks the keys, whatever their order, and reads what is known of them. No keys: no statement. */
export async function openLeases(
  handle: Handle,
  keys: Iterable<string>,
  declaredBy: DeclaredBy,
): Promise<LeaseBook> {
  return await readBook(handle, open, keys, declaredBy);
}

/** The same without the locks, for previews. */
export async function peekLeases(
  handle: Handle,
  keys: Iterable<string>,
  declaredBy: DeclaredBy,
): Promise<LeaseBook> {
  return await readBook(handle, peek, keys, declaredBy);
}

async function readBook(
  handle: Handle,
  read: typeof open,
  keys: Iterable<string>,
  declaredBy: DeclaredBy,
): Promise<LeaseBook> {
  const wanted = [...new Set(keys)];
  const [row] = wanted.length === 0 ? [] : await read(handle, [wanted]);
  return new LeaseBook({
    declaredBy,
    keys: wanted,
    leases: (row?.found.leases ?? []).map(toLease),
    tickets: (row?.found.tickets ?? []).map(toTicket),
    endedAt: new Map((row?.found.keys ?? []).map((one) => [one.key, one.ended_at])),
  });
}

function toLease(row: LeaseRow): WithClaim<Lease> {
  return {
    itemId: row.item_id,
    key: row.key,
    mode: row.mode,
    ttlMs: row.ttl_ms,
    fence: row.fence,
    acquiredBy: row.acquired_by,
    acquiredAt: row.acquired_at,
    originalAcquiredAt: row.original_acquired_at,
    expiresAt: row.expires_at,
    claim: row.claim === null ? null : toClaim(row.claim),
  };
}

function toTicket(row: TicketRow): WithClaim<Ticket> {
  return { itemId: row.item_id, key: row.key, number: row.number, claim: toClaim(row) };
}

function toClaim(row: ClaimRow): { fence: number; ttlMs: number; expiresAt: number } {
  return { fence: row.fence, ttlMs: row.ttl_ms, expiresAt: row.expires_at };
}

const save = statement<never>("leases_save", `select muster_save_leases($1::json)`);

/** Writes what was decided about leases. After the rows of their items; nothing decided: no statement. */
export async function saveLeases(handle: Handle, world: World): Promise<void> {
  const { leases } = world;
  if (!leases.isChanged) return;
  await save(handle, [
    JSON.stringify({
      ended: leases.ended.map(toIntervalRecord),
      keys: [...leases.lastEnds()].map(([key, at]) => ({ key, at: instant(at) })),
      held: leases.written().map((lease) => ({
        ...toLeaseRecord(lease),
        ttl_ms: lease.ttlMs,
        original_acquired_at: instant(lease.originalAcquiredAt),
        expires_at: instant(lease.expiresAt),
      })),
      begun: leases.begun.map(toIntervalRecord),
      served: [...leases.served],
      waiting: [...leases.waiting].map(([itemId, keys]) => ({ item_id: itemId, keys })),
      items: [...leases.items].map((id) => toItemRecord(world.get(id))),
    }),
  ]);
}

function toItemRecord({ id, leased, lostLeases }: ItemState): Record<string, unknown> {
  return { item_id: id, leased: orNull(leased), lost: orNull(lostLeases) };
}

function orNull(keys: readonly string[]): readonly string[] | null {
  return keys.length === 0 ? null : keys;
}

function toLeaseRecord(lease: Lease): Record<string, unknown> {
  return {
    item_id: lease.itemId,
    key: lease.key,
    mode: lease.mode,
    fence: lease.fence,
    acquired_by: lease.acquiredBy,
    acquired_at: instant(lease.acquiredAt),
  };
}

function toIntervalRecord({ lease, end }: Interval): Record<string, unknown> {
  return {
    ...toLeaseRecord(lease),
    at: end === null ? null : instant(end.at),
    reason: end?.reason ?? null,
    by: end?.by ?? null,
    detail: end?.detail ?? null,
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
