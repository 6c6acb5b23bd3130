/**
 * Taking what an item has to have in work, all of it or nothing; renewing it, letting go
 * of it; and standing in line for it. Entering and leaving work happens in `move.ts` and
 * nowhere else, so that no move can forget a lease.
 */
import { msUntilLapsed } from "../claim.ts";
import type { EndReason, ItemState } from "../state.ts";
import type { World } from "../world.ts";
import {
  isOver,
  type Lease,
  type LeaseClaim,
  type LeaseEnd,
  type Requirement,
  type Ticket,
  type WithClaim,
} from "./lease.ts";

/** A claim in the way whose expiry has passed: whether it has lapsed is for the claim clock to say. Never shown. */
export interface ExpiredHolder {
  readonly itemId: string;
  readonly fence: number;
  readonly ttlMs: number;
  readonly expiresAt: number;
}

/** Why the item cannot have what it needs. Says nothing about who has it. */
export interface LeaseObstacle {
  /** What is contended, sorted. */
  readonly keys: readonly string[];
  /** Until the first of what stands in the way ends by itself. */
  readonly retryAfterMs: number;
  /** Items that asked before and share a key. */
  readonly ahead: number;
  readonly expired: readonly ExpiredHolder[];
}

/** Null: the item may be in work as far as resources go. Changes nothing. */
export function judgeLeases(world: World, item: ItemState): LeaseObstacle | null {
  const { requirements } = world.leases.declaredBy(item);
  const keys: string[] = [];
  const inTheWay: { readonly ms: number; readonly expired: ExpiredHolder | null }[] = [];
  const ahead = new Set<string>();
  for (const requirement of requirements) {
    const leases = contending(world, item, requirement);
    const older = olderTickets(world, item, requirement.key);
    for (const ticket of older) ahead.add(ticket.itemId);
    if (leases.length + older.length > 0) keys.push(requirement.key);
    // Whoever waits in front has the key when it is free; until then its holder is what is waited for.
    for (const one of leases.length > 0 ? leases : older) inTheWay.push(obstacleOf(world, one));
  }
  if (keys.length === 0) return null;
  return {
    keys: keys.toSorted(),
    retryAfterMs: Math.min(...inTheWay.map(({ ms }) => ms)),
    ahead: ahead.size,
    expired: [
      ...new Map(
        inTheWay.flatMap(({ expired }) => (expired === null ? [] : [[expired.itemId, expired]])),
      ).values(),
    ],
  };
}

/** Leases of others that the requirement cannot stand beside. */
function contending(world: World, item: ItemState, { key, mode, capacity }: Requirement): WithClaim<Lease>[] {
  const others = world.leases
    .leasesOn(key)
    .filter((lease) => lease.itemId !== item.id && !isOver(lease, claimOf(world, lease), world.now));
  if (mode === "exclusive") return others;
  const exclusive = others.filter((lease) => lease.mode === "exclusive");
  return exclusive.length > 0 || others.length < capacity ? exclusive : others;
}

/** Nobody overtakes an older ticket that shares a key, not even to share the resource. */
function olderTickets(world: World, item: ItemState, key: string): WithClaim<Ticket>[] {
  const tickets = world.leases.ticketsOn(key);
  const own = tickets.find((ticket) => ticket.itemId === item.id)?.number ?? Infinity;
  return tickets.filter((ticket) => ticket.number < own && claimOf(world, ticket) !== null);
}

/** The claim of the item behind a lease or a ticket: as this decision has left it, else as it was read. */
function claimOf(world: World, one: WithClaim<{ readonly itemId: string }>): LeaseClaim | null {
  const state = world.find(one.itemId);
  if (state === undefined) return one.claim;
  return state.claim === null ? null : { ...state.claim, fence: state.fence };
}

function obstacleOf(
  world: World,
  one: WithClaim<Lease> | WithClaim<Ticket>,
): { readonly ms: number; readonly expired: ExpiredHolder | null } {
  const claim = claimOf(world, one);
  if (claim === null) return { ms: "expiresAt" in one ? msLeft(one, world.now) : 1, expired: null };
  const ms = msUntilLapsed(claim, world.now);
  if (claim.expiresAt > world.now) return { ms, expired: null };
  const { fence, ttlMs, expiresAt } = claim;
  return { ms, expired: { itemId: one.itemId, fence, ttlMs, expiresAt } };
}

function msLeft(lease: Lease, now: number): number {
  return Math.max(1, lease.expiresAt - now);
}

/**
 * The item has everything that it needs from now on. The caller has judged that it may:
 * what is over of others' is stolen here, what the item has already is renewed.
 */
export function takeLeases(world: World, id: string, by: string | null): void {
  const item = world.get(id);
  const { requirements } = world.leases.declaredBy(item);
  if (requirements.length === 0) return;
  for (const requirement of requirements) {
    endOthers(world, id, requirement.key);
    takeOne(world, item, requirement, by);
  }
  const keys = requirements.map(({ key }) => key);
  world.leases.serve(id);
  setKeys(world, id, [...item.leased, ...keys], []);
  note(world, id, "lease.acquired", keys);
}

/** Closes what is over at the instant at which it was over, and not at that of whoever found it. */
function endOthers(world: World, id: string, key: string): void {
  for (const lease of world.leases.leasesOn(key)) {
    if (lease.itemId === id || !isOver(lease, claimOf(world, lease), world.now)) continue;
    world.leases.end(lease, expiredAt(lease.expiresAt));
  }
}

function takeOne(world: World, item: ItemState, { key, mode, ttlMs }: Requirement, by: string | null): void {
  const own = world.leases.leaseOf(item.id, key);
  const taken = { itemId: item.id, key, mode, ttlMs, fence: item.fence, acquiredBy: by };
  // As it was before this decision: a claim that is granted now does not bring back what was over.
  if (own !== undefined && !isOver(own, own.claim, world.now)) {
    const acquiredAt = Math.max(world.now, own.acquiredAt);
    world.leases.renew({ ...own, ...taken, acquiredAt, expiresAt: acquiredAt + ttlMs });
    return;
  }
  if (own !== undefined) world.leases.end(own, expiredAt(own.expiresAt));
  // This transaction may have begun before the one that let go: the two must not overlap in the history.
  const acquiredAt = Math.max(world.now, world.leases.freeSince(key));
  world.leases.begin({
    ...taken,
    acquiredAt,
    originalAcquiredAt: acquiredAt,
    expiresAt: acquiredAt + ttlMs,
  });
}

/** The item leaves work, or is deleted. What others have taken over meanwhile is theirs. */
export function letGo(world: World, id: string, by: string | null): void {
  const { claim, fence } = world.get(id);
  endAll(world, id, (lease) =>
    isOver(lease, claim === null ? null : { ...claim, fence }, world.now)
      ? expiredAt(lease.expiresAt)
      : { reason: "released", at: world.now, by, detail: null },
  );
}

/** Nobody has the item's claim any more: what it has ends with the claim, or from now on at its own time. */
export function looseFromClaim(world: World, before: ItemState, reason: EndReason): void {
  const { id, claim, leased } = before;
  if (claim === null || leased.length === 0) return;
  if (reason === "expired") {
    endAll(world, id, () => expiredAt(claim.expiresAt));
  } else if (reason === "revoked") {
    endAll(world, id, () => ({ reason: "released", at: world.now, by: null, detail: "revoked" }));
  } else {
    for (const lease of leasesOf(world, before)) {
      world.leases.renew({ ...lease, expiresAt: world.now + lease.ttlMs });
    }
  }
}

/** An operator takes a key away. The item stays where it is, and its holder is told at its next call. */
export function forceRelease(
  world: World,
  id: string,
  key: string,
  by: { readonly agent: string; readonly reason: string },
): boolean {
  const item = world.get(id);
  const lease = world.leases.leaseOf(id, key);
  if (lease === undefined || isOver(lease, claimOf(world, { itemId: id, claim: null }), world.now))
    return false;
  world.leases.end(lease, { reason: "force_released", at: world.now, by: by.agent, detail: by.reason });
  setKeys(
    world,
    id,
    item.leased.filter((one) => one !== key),
    [...item.lostLeases, key],
  );
  note(world, id, "lease.force_released", [key]);
  return true;
}

function endAll(world: World, id: string, how: (lease: Lease) => LeaseEnd): void {
  const item = world.get(id);
  if (item.leased.length + item.lostLeases.length === 0) return;
  const leases = leasesOf(world, item);
  for (const lease of leases) world.leases.end(lease, how(lease));
  setKeys(world, id, [], []);
  if (leases.length > 0) {
    note(
      world,
      id,
      "lease.released",
      leases.map(({ key }) => key),
    );
  }
}

function setKeys(world: World, id: string, leased: readonly string[], lost: readonly string[]): void {
  world.leases.items.add(id);
  world.update(id, { leased: sorted(leased), lostLeases: sorted(lost) });
}

function sorted(keys: readonly string[]): string[] {
  return [...new Set(keys)].toSorted();
}

function leasesOf(world: World, item: ItemState): Lease[] {
  return item.leased.flatMap((key) => world.leases.leaseOf(item.id, key) ?? []);
}

function expiredAt(at: number): LeaseEnd {
  return { reason: "expired", at, by: null, detail: null };
}

function note(world: World, id: string, type: string, keys: readonly string[]): void {
  world.events.push({ type, itemId: id, rootId: world.get(id).rootId, data: { keys } });
}
