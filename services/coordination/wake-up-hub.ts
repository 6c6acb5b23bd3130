/**
 * Tickets of one process. A ticket is registered under its topics until it is closed, and
 * remembers that something was published since it was taken; so a publish that falls
 * between the query and the wait is found by the wait. Topics nobody holds a ticket for
 * take no memory.
 */
import type { WakeTicket } from "./port.ts";

/** The longest delay a timer takes; a longer one would fire at once. */
const TIMER_MS_MAX = 2_147_483_647;

interface OpenTicket {
  readonly topics: ReadonlySet<string>;
  stale: boolean;
  closed: boolean;
  /** Each ends one wait with the given answer. */
  readonly waiters: Set<(woken: boolean) => void>;
}

export interface WakeUpHub {
  ticket(topics: readonly string[]): WakeTicket;
  /** Wakes the tickets of these topics. */
  wake(topics: readonly string[]): void;
  /** Wakes every ticket, for when publishes may have been missed. */
  wakeAll(): void;
  /** Ends every wait with false, now and from now on. */
  close(): void;
}

export function createWakeUpHub(): WakeUpHub {
  const byTopic = new Map<string, Set<OpenTicket>>();
  let closed = false;

  function register(ticket: OpenTicket): void {
    for (const topic of ticket.topics) {
      const tickets = byTopic.get(topic);
      if (tickets) tickets.add(ticket);
      else byTopic.set(topic, new Set([ticket]));
    }
  }

  function end(ticket: OpenTicket): void {
    ticket.closed = true;
    answer(ticket, false);
    for (const topic of ticket.topics) {
      const tickets = byTopic.get(topic);
      tickets?.delete(ticket);
      if (tickets?.size === 0) byTopic.delete(topic);
    }
  }

  return {
    ticket(topics) {
      const ticket: OpenTicket = {
        topics: new Set(topics),
        stale: false,
        closed,
        waiters: new Set(),
      };
      if (!closed) register(ticket);
      return {
        wait: (timeoutMs, signal) => waitFor(ticket, timeoutMs, signal),
        stale: () => ticket.stale,
        close: () => end(ticket),
      };
    },

    wake(topics) {
      // A ticket for two of the topics is woken once, not left stale by the second.
      const tickets = new Set<OpenTicket>();
      for (const topic of topics) for (const ticket of byTopic.get(topic) ?? []) tickets.add(ticket);
      for (const ticket of tickets) mark(ticket);
    },

    wakeAll() {
      this.wake([...byTopic.keys()]);
    },

    close() {
      closed = true;
      for (const tickets of byTopic.values()) for (const ticket of tickets) end(ticket);
    },
  };
}

/** A ticket with waiters is renewed by answering them; otherwise the next wait finds it stale. */
function mark(ticket: OpenTicket): void {
  if (ticket.waiters.size > 0) answer(ticket, true);
  else ticket.stale = true;
}

function answer(ticket: OpenTicket, woken: boolean): void {
  for (const finish of ticket.waiters) finish(woken);
}

function waitFor(ticket: OpenTicket, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted || ticket.closed) return Promise.resolve(false);
  if (ticket.stale) {
    ticket.stale = false;
    return Promise.resolve(true);
  }
  if (timeoutMs <= 0) return Promise.resolve(false);

  return new Promise((resolve) => {
    const finish = (woken: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      ticket.waiters.delete(finish);
      resolve(woken);
    };
    const onAbort = (): void => finish(false);
    const timer = setTimeout(finish, Math.min(timeoutMs, TIMER_MS_MAX), false);
    signal.addEventListener("abort", onAbort, { once: true });
    ticket.waiters.add(finish);
  });
}
