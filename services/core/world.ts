/**
 * The working set of one decision: the rows that are locked, the edges between them, and
 * what the decision changed. A use case locks and loads, decisions write here, and the
 * store turns the difference into a bounded number of statements, however many items
 * changed. One transition is a batch of one.
 *
 * A decision that reaches a row nobody locked throws {@link NotLocked}; the use case rolls
 * back and starts over with that row in the set. Guessing small and starting over keeps
 * roots out of the lock set of ordinary completions.
 */
import type { Edge } from "./edges.ts";
import { emptyBook, type LeaseBook } from "./leases/lease-book.ts";
import { NotLocked } from "./not-locked.ts";
import type { Role } from "./roles.ts";
import { type ItemSchema, SCHEMA_FREE } from "./schemas/item-schema.ts";
import type { FilledNotes } from "./schemas/note-gate.ts";
import type { EndReason, Holder, ItemPolicy, ItemState } from "./state.ts";

export { NotLocked };

const NO_NOTES: FilledNotes = new Map();

export interface TransitionRecord {
  readonly itemId: string;
  readonly rootId: string;
  readonly fromRole: Role;
  readonly toRole: Role;
  readonly fromLabel: string | null;
  readonly toLabel: string | null;
  /** A trigger, or `cascade`, or what Muster did by itself: `expire`, `release`, `revoke`. */
  readonly trigger: string;
  readonly summary: string | null;
  readonly by: Author;
  readonly fence: number;
  /** Resources that the move takes, and those that its caller named. */
  readonly consumed: readonly string[];
}

/** Who is written into the audit; nobody for what Muster does by itself. */
export interface Author {
  readonly agent: string | null;
  readonly session: string | null;
  /** What the caller said of itself, and what its client calls itself. Without an id if only the client is known. */
  readonly actor: Readonly<Record<string, unknown>> | null;
  /** What became of its proof; null where nothing verifies. */
  readonly verification: Readonly<Record<string, unknown>> | null;
}

export const NOBODY: Author = { agent: null, session: null, actor: null, verification: null };

export interface EndedAttempt {
  readonly itemId: string;
  readonly fence: number;
  readonly reason: EndReason;
  readonly detail: string | null;
  /** Of a failed one: whose fault it was. */
  readonly failure: "item" | "environment" | null;
}

export interface OpenedAttempt extends Holder {
  readonly itemId: string;
  readonly fence: number;
  readonly parentAgent: string | null;
  readonly by: Author;
  /** Milliseconds of the database's clock. */
  readonly claimedAt: number;
}

export interface EventRecord {
  readonly type: string;
  readonly itemId: string;
  readonly rootId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface GlimpsedParent {
  readonly role: Role;
  readonly openChildren: number;
}

/** What closing children add to the counters of a parent that is not in the set. */
export interface Tally {
  readonly open: number;
  readonly done: number;
}

export interface WorldInput {
  readonly now: number;
  readonly states: Iterable<ItemState>;
  readonly edges: Iterable<Edge>;
  /** Items whose outgoing edges were loaded; all of them if it does not say. Locked is not loaded. */
  readonly edgesOf?: Iterable<string>;
  /** Items whose subtree is locked as well. */
  readonly subtrees: Iterable<string>;
  /** Parents as they were when somebody glanced at them without a lock. */
  readonly parents?: ReadonlyMap<string, GlimpsedParent>;
  readonly policyOf: (state: ItemState) => ItemPolicy;
  /** Nothing is configured if it does not say. */
  readonly schemaOf?: (item: Configurable) => ItemSchema;
  /** Notes that say something, by item. Nobody loaded any if it does not say. */
  readonly notes?: LoadedNotes;
  /** Nothing declares resources if it does not say. */
  readonly leases?: LeaseBook;
}

/** What an item's schema follows from. */
export type Configurable = Pick<ItemState, "id" | "rootId" | "type" | "tags" | "traits">;

export interface LoadedNotes {
  readonly filled: ReadonlyMap<string, FilledNotes>;
  /** Items whose notes were read, whether or not they have any. */
  readonly of: ReadonlySet<string>;
}

export class World {
  readonly now: number;
  readonly policyOf: (state: ItemState) => ItemPolicy;
  readonly schemaOf: (item: Configurable) => ItemSchema;
  /** Leases on the resources that are locked. */
  readonly leases: LeaseBook;
  readonly transitions: TransitionRecord[] = [];
  readonly ended: EndedAttempt[] = [];
  readonly opened: OpenedAttempt[] = [];
  readonly events: EventRecord[] = [];
  readonly #before = new Map<string, ItemState>();
  readonly #states = new Map<string, ItemState>();
  readonly #edgesFrom = new Map<string, Edge[]>();
  readonly #edgesOf: ReadonlySet<string> | null;
  readonly #subtrees: ReadonlySet<string>;
  readonly #parents: ReadonlyMap<string, GlimpsedParent>;
  readonly #tallies = new Map<string, Tally>();
  readonly #notes: LoadedNotes;
  readonly #brought = new Map<string, FilledNotes>();

  constructor(input: WorldInput) {
    this.now = input.now;
    this.policyOf = input.policyOf;
    this.schemaOf = input.schemaOf ?? (() => SCHEMA_FREE);
    this.#notes = input.notes ?? { filled: new Map(), of: new Set() };
    this.leases = input.leases ?? emptyBook();
    this.#subtrees = new Set(input.subtrees);
    this.#parents = input.parents ?? new Map();
    this.#edgesOf = input.edgesOf === undefined ? null : new Set(input.edgesOf);
    for (const state of input.states) {
      this.#before.set(state.id, state);
      this.#states.set(state.id, state);
    }
    for (const edge of input.edges) {
      const list = this.#edgesFrom.get(edge.from);
      if (list) list.push(edge);
      else this.#edgesFrom.set(edge.from, [edge]);
    }
  }

  /** The item as it stands now, or undefined if it is not in the set (it may not exist). */
  find(id: string): ItemState | undefined {
    return this.#states.get(id);
  }

  /** The role of a parent that is not in the set, as it was when somebody glanced at it. */
  glimpsedRole(id: string): Role | undefined {
    return this.#parents.get(id)?.role;
  }

  /**
   * Counts a child that closed in a parent that is not in the set and far from closing itself, so
   * that children which finish below one parent do not queue up for its row. Whoever stores the
   * tally checks that the parent still has an open child left, and starts over otherwise.
   *
   * @returns false if the parent's row is needed for it
   */
  tally(parentId: string, open: number, done: number): boolean {
    const glimpsed = this.#parents.get(parentId);
    if (glimpsed === undefined || glimpsed.role === "terminal" || open >= 0) return false;
    const before = this.#tallies.get(parentId) ?? { open: 0, done: 0 };
    if (glimpsed.openChildren + before.open + open < 1) return false;
    this.#tallies.set(parentId, { open: before.open + open, done: before.done + done });
    return true;
  }

  /** Parents that are not in the set, and what is to be added to their counters. */
  get tallies(): ReadonlyMap<string, Tally> {
    return this.#tallies;
  }

  /** @throws NotLocked if a decision needs a row that nobody locked. */
  get(id: string): ItemState {
    const state = this.#states.get(id);
    if (!state) throw new NotLocked([id]);
    return state;
  }

  update(id: string, change: Partial<Omit<ItemState, "id">>): ItemState {
    const next = { ...this.get(id), ...change };
    this.#states.set(id, next);
    return next;
  }

  /**
   * What the item holds up.
   * @throws NotLocked if nobody loaded it: a row may be locked for another reason, and
   * taking its edges for none would leave its dependents blocked for ever.
   */
  edgesFrom(id: string): readonly Edge[] {
    if (!this.hasEdgesOf(id)) throw new NotLocked([id]);
    return this.#edgesFrom.get(id) ?? [];
  }

  /**
   * The notes of an item that say something.
   * @throws NotLocked if nobody read them: a gate must not be judged by notes that were not looked at
   */
  notesOf(id: string): FilledNotes {
    const brought = this.#brought.get(id);
    if (!this.#notes.of.has(id)) throw new NotLocked([id]);
    const stored = this.#notes.filled.get(id) ?? NO_NOTES;
    return brought === undefined ? stored : new Map([...stored, ...brought]);
  }

  /** Judges the item as if these notes were written; null: as it is. */
  bringNotes(id: string, notes: FilledNotes | null): void {
    if (notes === null) this.#brought.delete(id);
    else this.#brought.set(id, notes);
  }

  hasEdgesOf(id: string): boolean {
    return this.#edgesOf === null || this.#edgesOf.has(id);
  }

  /** Everything below `id`, which must have been locked as a subtree. */
  descendantsOf(id: string): ItemState[] {
    if (!this.#subtrees.has(id)) throw new NotLocked([], [id]);
    return [...this.#states.values()].filter((state) => state.ancestors.includes(id));
  }

  /** The world as it stands now, to try something on that may have to be forgotten. */
  fork(): World {
    const fork = new World({
      now: this.now,
      states: this.#states.values(),
      edges: [...this.#edgesFrom.values()].flat(),
      ...(this.#edgesOf === null ? {} : { edgesOf: this.#edgesOf }),
      subtrees: this.#subtrees,
      parents: this.#parents,
      policyOf: this.policyOf,
      schemaOf: this.schemaOf,
      notes: this.#notes,
      leases: this.leases.fork(),
    });
    for (const [id, tally] of this.#tallies) fork.#tallies.set(id, tally);
    for (const [id, notes] of this.#brought) fork.#brought.set(id, notes);
    return fork;
  }

  /** Rows that differ from what was loaded, as they are to be stored. */
  changed(): ItemState[] {
    return [...this.#states.values()].filter((state) => state !== this.#before.get(state.id));
  }

  /** True if the decision moved the item's role, as against its counters or claim. */
  roleChanged(id: string): boolean {
    return this.#states.get(id)?.role !== this.#before.get(id)?.role;
  }

  /** Items that could be claimed now and could not before: what waiting claims are woken for. */
  becameClaimable(): ItemState[] {
    return this.changed().filter((state) => {
      const before = this.#before.get(state.id);
      if (!isOfferable(state)) return false;
      if (before === undefined || !isOfferable(before) || before.role !== state.role) return true;
      // A container that lost its last open child is offered to everybody who asks for leaves.
      return before.openChildren > 0 && state.openChildren === 0;
    });
  }
}

/** Readiness without the caller: what has to be true of the row itself. */
function isOfferable(state: ItemState): boolean {
  return (
    state.claim === null &&
    state.role !== "terminal" &&
    state.role !== "blocked" &&
    state.blockers === 0 &&
    state.ancestorBlockers === 0 &&
    !state.dead
  );
}
