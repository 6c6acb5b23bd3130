/**
 * The leases and tickets of the keys that one decision has locked, and what it changed
 * about them. Part of the decision's world: decisions write here, the store turns the
 * difference into one statement.
 *
 * A key that nobody locked throws {@link NotLocked}, as a row does: the use case starts
 * over with it in the set.
 */
import { NotLocked } from "../not-locked.ts";
import type { ItemState } from "../state.ts";
import type { Lease, LeaseEnd, Requirement, Ticket, WithClaim } from "./lease.ts";

/** An item, as far as its schema's resources depend on it. */
export interface Declared {
  /** What it has to have in work, in the order of the keys. */
  readonly requirements: readonly Requirement[];
  /** Everything that it declares: exclusive first, then shared, then advisory. */
  readonly keys: readonly string[];
}

const NOTHING: Declared = { requirements: [], keys: [] };

export interface LeaseBookInput {
  readonly declaredBy: (item: ItemState) => Declared;
  /** Keys that are locked. */
  readonly keys: Iterable<string>;
  readonly leases: Iterable<WithClaim<Lease>>;
  /** Those that still count. */
  readonly tickets: Iterable<WithClaim<Ticket>>;
  /** When the last lease of a key ended: the next one begins no earlier. */
  readonly endedAt: ReadonlyMap<string, number>;
}

/** A stretch of time in which an item had a key, for the history. */
export interface Interval {
  readonly lease: Lease;
  readonly end: LeaseEnd | null;
}

/** Numbers of tickets that have none yet: after all that have, in the order in which they were asked for. */
const UNNUMBERED = 2 ** 52;

export class LeaseBook {
  readonly declaredBy: (item: ItemState) => Declared;
  readonly #keys: ReadonlySet<string>;
  readonly #leases = new Map<string, Map<string, WithClaim<Lease>>>();
  readonly #tickets = new Map<string, Map<string, WithClaim<Ticket>>>();
  readonly #endedAt: Map<string, number>;
  /** Ends of leases that were there before. */
  readonly ended: Interval[] = [];
  /** Intervals that began here, and may have ended here too. */
  readonly begun: Interval[] = [];
  readonly #renewed = new Set<string>();
  /** Items that do not have the same keys any more. One whose lease was over finds out when it lets go. */
  readonly items = new Set<string>();
  /** Items whose tickets are used up. */
  readonly served = new Set<string>();
  /** Keys that items wait for since now. */
  readonly waiting = new Map<string, readonly string[]>();

  constructor(input: LeaseBookInput) {
    this.declaredBy = input.declaredBy;
    this.#keys = new Set(input.keys);
    this.#endedAt = new Map(input.endedAt);
    for (const lease of input.leases) place(this.#leases, lease);
    for (const ticket of input.tickets) place(this.#tickets, ticket);
  }

  /** @throws NotLocked for the key. */
  leasesOn(key: string): readonly WithClaim<Lease>[] {
    this.#refuseUnlocked(key);
    return [...(this.#leases.get(key)?.values() ?? [])];
  }

  leaseOf(itemId: string, key: string): WithClaim<Lease> | undefined {
    this.#refuseUnlocked(key);
    return this.#leases.get(key)?.get(itemId);
  }

  /** Oldest first. @throws NotLocked for the key. */
  ticketsOn(key: string): readonly WithClaim<Ticket>[] {
    this.#refuseUnlocked(key);
    return [...(this.#tickets.get(key)?.values() ?? [])].toSorted((a, b) => a.number - b.number);
  }

  /** The earliest instant at which a lease on the key may begin, the clock aside. */
  freeSince(key: string): number {
    return this.#endedAt.get(key) ?? 0;
  }

  begin(lease: Lease): void {
    place(this.#leases, { ...lease, claim: null });
    this.begun.push({ lease, end: null });
  }

  /** The interval goes on; its lease is written anew. */
  renew(lease: Lease): void {
    const before = this.#leases.get(lease.key)?.get(lease.itemId);
    place(this.#leases, { ...lease, claim: before?.claim ?? null });
    this.#renewed.add(`${lease.itemId} ${lease.key}`);
  }

  end(lease: Lease, end: LeaseEnd): void {
    const at = Math.max(end.at, lease.acquiredAt);
    this.#leases.get(lease.key)?.delete(lease.itemId);
    this.#endedAt.set(lease.key, Math.max(at, this.freeSince(lease.key)));
    const interval = { lease, end: { ...end, at } };
    const here = this.begun.findIndex(
      (one) => one.end === null && one.lease.itemId === lease.itemId && one.lease.key === lease.key,
    );
    if (here === -1) this.ended.push(interval);
    else this.begun[here] = interval;
  }

  /** Gives the item a place in the line for those of the keys for which it has none. */
  wait(itemId: string, keys: readonly string[]): void {
    const missing = keys.filter((key) => {
      this.#refuseUnlocked(key);
      return !this.#tickets.get(key)?.has(itemId);
    });
    if (missing.length === 0) return;
    const number = UNNUMBERED + this.waiting.size;
    for (const key of missing) place(this.#tickets, { itemId, key, number, claim: null });
    this.waiting.set(itemId, [...(this.waiting.get(itemId) ?? []), ...missing]);
  }

  /** The item waits no longer. */
  serve(itemId: string): void {
    let had = false;
    for (const tickets of this.#tickets.values()) had = tickets.delete(itemId) || had;
    this.waiting.delete(itemId);
    if (had) this.served.add(itemId);
  }

  /** Leases that were begun or renewed here and are still there. */
  written(): Lease[] {
    const begun = this.begun.flatMap(({ lease, end }) => (end === null ? [lease] : []));
    const keys = [...begun.map((lease) => `${lease.itemId} ${lease.key}`), ...this.#renewed];
    return [...new Set(keys)].flatMap((one) => {
      const [itemId = "", key = ""] = one.split(" ");
      const lease = this.#leases.get(key)?.get(itemId);
      return lease === undefined ? [] : [lease];
    });
  }

  /** When the last lease of each key that lost one here ended. */
  lastEnds(): ReadonlyMap<string, number> {
    const keys = [...this.ended, ...this.begun].flatMap(({ lease, end }) =>
      end === null ? [] : [lease.key],
    );
    return new Map(keys.map((key) => [key, this.freeSince(key)]));
  }

  get isChanged(): boolean {
    const count = this.ended.length + this.begun.length + this.#renewed.size;
    return count + this.items.size + this.served.size + this.waiting.size > 0;
  }

  /** As it stands now, to try something on that may have to be forgotten. */
  fork(): LeaseBook {
    return new LeaseBook({
      declaredBy: this.declaredBy,
      keys: this.#keys,
      leases: [...this.#leases.values()].flatMap((one) => [...one.values()]),
      tickets: [...this.#tickets.values()].flatMap((one) => [...one.values()]),
      endedAt: this.#endedAt,
    });
  }

  #refuseUnlocked(key: string): void {
    if (!this.#keys.has(key)) throw new NotLocked([], [], [key]);
  }
}

function place<T extends { readonly itemId: string; readonly key: string }>(
  index: Map<string, Map<string, T>>,
  one: T,
): void {
  const found = index.get(one.key);
  if (found) found.set(one.itemId, one);
  else index.set(one.key, new Map([[one.itemId, one]]));
}

/** The book of a world in which nothing declares resources. */
export function emptyBook(): LeaseBook {
  return new LeaseBook({
    declaredBy: () => NOTHING,
    keys: [],
    leases: [],
    tickets: [],
    endedAt: new Map(),
  });
}
