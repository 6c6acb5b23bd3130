/**
 * Leases, tickets and history as the database would keep them between decisions: each
 * decision gets a world made of it, and what it changed is entered here.
 */
import { type Declared, type Interval, LeaseBook } from "../../../services/core/leases/lease-book.ts";
import type { Lease, LeaseClaim, Requirement } from "../../../services/core/leases/lease.ts";
import { DEFAULT_POLICY, type ItemState } from "../../../services/core/state.ts";
import { World } from "../../../services/core/world.ts";

export interface KeptTicket {
  readonly itemId: string;
  readonly keys: readonly string[];
  readonly number: number;
  readonly fence: number;
}

/** `K` is exclusive, `K:shared:2` is shared by two. Sorted, as a schema would give them. */
export function needs(...specs: readonly string[]): Declared {
  const requirements = specs.toSorted().map((spec): Requirement => {
    const [key = "", mode = "exclusive", capacity = "1"] = spec.split(":");
    return {
      key,
      mode: mode === "shared" ? "shared" : "exclusive",
      capacity: Number(capacity),
      ttlMs: 3_600_000,
    };
  });
  return { requirements, keys: requirements.map(({ key }) => key) };
}

const NOTHING: Declared = { requirements: [], keys: [] };

export class Ledger {
  readonly states = new Map<string, ItemState>();
  readonly declared: Readonly<Record<string, Declared>>;
  leases: Lease[] = [];
  tickets: KeptTicket[] = [];
  history: Interval[] = [];
  readonly #endedAt = new Map<string, number>();
  #lastNumber = 0;

  constructor(states: readonly ItemState[], declared: Readonly<Record<string, Declared>>) {
    for (const state of states) this.states.set(state.id, state);
    this.declared = declared;
  }

  /** Decides in a world in which everything is locked, and keeps what came of it. */
  decide<T>(now: number, decision: (world: World) => T): T {
    const world = this.world(now);
    const result = decision(world);
    this.#keep(world);
    return result;
  }

  world(now: number): World {
    const keys = Object.values(this.declared).flatMap((one) => one.keys);
    return new World({
      now,
      states: this.states.values(),
      edges: [],
      subtrees: this.states.keys(),
      policyOf: () => DEFAULT_POLICY,
      leases: new LeaseBook({
        declaredBy: (item) => this.declared[item.id] ?? NOTHING,
        keys,
        leases: this.leases.map((lease) => ({ ...lease, claim: this.#claimOf(lease.itemId) })),
        tickets: this.validTickets().flatMap(({ itemId, number, keys: wanted }) =>
          wanted.map((key) => ({ itemId, key, number, claim: this.#claimOf(itemId) })),
        ),
        endedAt: this.#endedAt,
      }),
    });
  }

  validTickets(): KeptTicket[] {
    return this.tickets.filter(({ itemId, fence }) => this.#claimOf(itemId)?.fence === fence);
  }

  holdersOf(key: string): string[] {
    return this.leases.filter((lease) => lease.key === key).map((lease) => lease.itemId);
  }

  #claimOf(id: string): LeaseClaim | null {
    const state = this.states.get(id);
    return state?.claim ? { ...state.claim, fence: state.fence } : null;
  }

  #keep(world: World): void {
    const moved = world.changed().filter((state) => world.roleChanged(state.id));
    for (const state of world.changed()) this.states.set(state.id, state);
    const { leases } = world;
    const isSame = (one: Lease) => (other: Lease) => one.itemId === other.itemId && one.key === other.key;
    for (const interval of leases.ended) {
      this.leases = this.leases.filter((lease) => !isSame(interval.lease)(lease));
      const open = this.history.findIndex((one) => one.end === null && isSame(interval.lease)(one.lease));
      const begun = this.history[open];
      if (begun === undefined) throw new Error("a lease ended whose interval is not open");
      this.history[open] = { lease: begun.lease, end: interval.end };
    }
    for (const lease of leases.written()) {
      this.leases = [...this.leases.filter((one) => !isSame(lease)(one)), lease];
    }
    this.history.push(...leases.begun);
    for (const [key, at] of leases.lastEnds()) this.#endedAt.set(key, at);
    const gone = new Set([...leases.served, ...moved.map((state) => state.id)]);
    this.tickets = this.tickets.filter((ticket) => !gone.has(ticket.itemId));
    for (const [itemId, keys] of leases.waiting) {
      this.#lastNumber += 1;
      const fence = this.states.get(itemId)?.fence ?? 0;
      this.tickets.push({ itemId, keys, number: this.#lastNumber, fence });
    }
  }
}
