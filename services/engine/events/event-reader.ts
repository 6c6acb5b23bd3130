/**
 * Reads the outbox forward, without passing a number that may still come.
 *
 *   read a page ──▶ no gap ──▶ hand it out, go on behind it
 *        ▲     └──▶ a gap ──▶ hand out what is before it; note who runs
 *        └── all of those have ended: what is missing below what was seen never comes ◀──┘
 *
 * Whoever took a number before one that was seen had begun by then. So once everybody has ended
 * who ran when the gap was first seen, the next read shows what there is to see.
 */
import type { Handle } from "../../../db/statement.ts";
import { findEvents, runningTransactions, type StoredEvent } from "../../../db/stores/event-store.ts";
import { settledPart } from "../../core/events/settled.ts";

const PAGE = 500;

interface Gap {
  /** Numbers up to this one were taken when the gap was seen. */
  readonly upTo: number;
  readonly running: ReadonlySet<string>;
}

export interface ReadPage {
  readonly events: readonly StoredEvent[];
  /** `more`: read again at once. `gap`: soon, somebody may end. `end`: when something happens. */
  readonly next: "more" | "gap" | "end";
}

export class EventReader {
  readonly #db: Handle;
  #position: number;
  #givenUpTo: number;
  #gap: Gap | null = null;

  /** Reads what comes after `position`. */
  constructor(db: Handle, position: number) {
    this.#db = db;
    this.#position = position;
    this.#givenUpTo = position;
  }

  /** Everything up to here was handed out, or will never come. */
  get position(): number {
    return this.#position;
  }

  async read(): Promise<ReadPage> {
    // Before the page: what somebody wrote who has ended by now is then in it.
    if (this.#gap !== null && (await hasEnded(this.#db, this.#gap.running))) {
      this.#givenUpTo = this.#gap.upTo;
      this.#gap = null;
    }
    const rows = await findEvents(this.#db, { after: this.#position, limit: PAGE });
    const events = settledPart(rows, this.#position, this.#givenUpTo);
    this.#position = events.at(-1)?.seq ?? this.#position;
    const last = rows.at(-1);
    if (events.length === rows.length || last === undefined)
      return { events, next: rows.length === PAGE ? "more" : "end" };
    // After the page: whoever took a missing number and is not in the list has ended.
    this.#gap ??= { upTo: last.seq, running: await runningTransactions(this.#db) };
    return { events, next: this.#gap.running.size === 0 ? "more" : "gap" };
  }
}

async function hasEnded(db: Handle, waitedFor: ReadonlySet<string>): Promise<boolean> {
  if (waitedFor.size === 0) return true;
  return waitedFor.isDisjointFrom(await runningTransactions(db));
}
