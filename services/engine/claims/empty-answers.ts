/**
 * Why a selector got nothing, remembered for a moment.
 *
 * Idle workers must not cost a query each: an empty answer holds for everybody with the
 * same predicate until something is published, until the next wait or claim ends, and for
 * a quarter of a second at most. The ticket was taken before the query, so what became
 * claimable in between is not missed.
 */
import { findEmptiness, type Emptiness } from "../../../db/stores/emptiness-store.ts";
import type { WakeTicket } from "../../coordination/port.ts";
import type { EngineDeps } from "../deps.ts";
import type { Predicate } from "./predicate.ts";

const REMEMBER_MS = 250;
const CAPACITY = 1_000;

export interface EmptyAnswers {
  /** The remembered answer, if it still holds. */
  find(key: string): Emptiness | undefined;
  /** Keeps the answer together with the ticket, which is closed when the answer goes. */
  keep(key: string, answer: Emptiness, ticket: WakeTicket): void;
  close(): void;
}

interface Entry {
  readonly answer: Emptiness;
  readonly ticket: WakeTicket;
  readonly until: number;
}

export function createEmptyAnswers(): EmptyAnswers {
  const entries = new Map<string, Entry>();
  const drop = (key: string): void => {
    entries.get(key)?.ticket.close();
    entries.delete(key);
  };
  return {
    find(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.until > performance.now() && !entry.ticket.stale()) return entry.answer;
      drop(key);
      return undefined;
    },
    keep(key, answer, ticket) {
      drop(key);
      const untilNext = answer.nextAt === null ? REMEMBER_MS : answer.nextAt - answer.now;
      entries.set(key, { answer, ticket, until: performance.now() + Math.min(REMEMBER_MS, untilNext) });
      const oldest = entries.size > CAPACITY ? entries.keys().next().value : undefined;
      if (oldest !== undefined) drop(oldest);
    },
    close() {
      for (const { ticket } of entries.values()) ticket.close();
      entries.clear();
    },
  };
}

export async function diagnoseEmpty(
  deps: EngineDeps,
  predicate: Predicate,
  agent: string,
): Promise<Emptiness> {
  const why = await findEmptiness(deps.db, {
    filter: predicate.filter,
    roles: predicate.roles,
    containers: predicate.containers,
    startable: predicate.startable,
    asker: { agent, capabilities: predicate.capabilities },
  });
  // An expiry that has passed says nothing about when the claim lapses: whoever came back for it at once would spin.
  return why.nextAt !== null && why.nextAt <= why.now ? { ...why, nextAt: null } : why;
}
