/**
 * One transaction of a use case: tried again inside when Postgres says that trying again
 * is the cure, so that callers never see a deadlock.
 *
 * Inside: no network call, no user code, and only the transaction's own handle.
 */
import { CompiledQuery } from "kysely";
import type { Handle } from "./statement.ts";

const RETRYABLE = new Set(["40001", "40P01"]);
const LOCK_NOT_AVAILABLE = "55P03";
/** Raised by `muster_take_keys`, to tell a busy key from a busy row. */
const KEY_BUSY = "P0K01";
/** Raised by `muster_start_over`. */
const COUNT_REFUSED = "P0K02";
/** Deadlocks and serialisation faults that are tried again. */
const COLLISIONS_MAX = 8;
/** A set that grew collides with nobody and grows each time; past this it chases something that moves. */
const GROWTHS_MAX = 16;

/** Thrown by a use case that saw its locked set grow: everything is rolled back and tried again. */
export class StartOver extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "StartOver";
  }
}

/** The tail of a transaction: writes that travel together with the commit. */
export interface Tail {
  /** Takes a statement's promise. It is awaited after the commit was sent; if it fails, nothing was committed. */
  send(statement: Promise<unknown>): void;
}

/**
 * Runs `work` in one transaction. Statements are sent as they are issued, so independent
 * ones share a round trip when they are not awaited one by one; `begin` travels with the
 * first, and what is handed to `tail` with the commit.
 */
export async function inTransaction<T>(db: Handle, work: (tx: Handle, tail: Tail) => Promise<T>): Promise<T> {
  for (let collisions = 0, growths = 0; ;) {
    try {
      return await db.connection().execute((connection) => runOnce(connection, work));
    } catch (error) {
      if (error instanceof StartOver) {
        growths += 1;
        if (growths >= GROWTHS_MAX) throw error;
        continue;
      }
      collisions += 1;
      if (collisions >= COLLISIONS_MAX || !RETRYABLE.has(sqlState(error) ?? "")) throw error;
      // Two that collided must not collide again in step.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** collisions));
    }
  }
}

async function runOnce<T>(connection: Handle, work: (tx: Handle, tail: Tail) => Promise<T>): Promise<T> {
  const begun = connection.executeQuery(BEGIN);
  // Its failure is the failure of everything behind it, and is reported there.
  begun.catch(() => {});
  const sent: Promise<unknown>[] = [];
  let result: T;
  try {
    result = await work(connection, {
      send(promise) {
        // Nobody waits for it yet, and a rejection that nobody waits for ends the process.
        promise.catch(() => {});
        sent.push(promise);
      },
    });
    await begun;
  } catch (error) {
    await Promise.allSettled(sent);
    // A connection that broke has nothing to roll back, and its second complaint must not hide the first.
    await connection.executeQuery(ROLLBACK).catch(() => {});
    throw error;
  }
  const committed = connection.executeQuery<{ command?: string }>(COMMIT);
  const outcomes = await Promise.allSettled([...sent, committed]);
  // A failed statement turns the commit behind it into a rollback.
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  const { rows } = await committed;
  if (rows[0]?.command === "ROLLBACK") throw new Error("the transaction was rolled back by the database");
  return result;
}

const BEGIN = CompiledQuery.raw("begin");
const COMMIT = CompiledQuery.raw("commit");
const ROLLBACK = CompiledQuery.raw("rollback");

/** True if a lock was waited for longer than allowed. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === LOCK_NOT_AVAILABLE;
}

/** True if a call with the same key is still running somewhere, and for longer than one waits. */
export function isKeyBusy(error: unknown): boolean {
  return sqlState(error) === KEY_BUSY;
}

/** True if a parent that was to be counted only turned out to close: it has to be locked. */
export function isCountRefused(error: unknown): boolean {
  return sqlState(error) === COUNT_REFUSED;
}

/** Five characters. No class of SQLSTATE begins with E: EPIPE is the system's word, not the server's. */
const SQLSTATE = /^(?!E)[0-9A-Z]{5}$/;

/** The SQLSTATE of a driver error, looking through wrapped causes. */
export function sqlState(error: unknown): string | undefined {
  for (let at: unknown = error, hops = 0; at instanceof Error && hops < 5; at = at.cause, hops += 1) {
    const code: unknown = (at as { code?: unknown }).code;
    if (typeof code === "string" && SQLSTATE.test(code)) return code;
  }
  return undefined;
}
