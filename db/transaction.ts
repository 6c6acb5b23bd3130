/**
 * One transaction of a use case: tried again inside when Postgres says that trying again
 * is the cure, so that callers never see a deadlock.
 *
 * Inside: no network call, no user code, and only the transaction's own handle.
 */
import type { Kysely, Transaction } from "kysely";
import type { Database } from "./schema.ts";

const RETRYABLE = new Set(["40001", "40P01"]);
const LOCK_NOT_AVAILABLE = "55P03";
const MAX_TRIES = 8;

/** Thrown by a use case that saw its locked set grow: everything is rolled back and tried again. */
export class StartOver extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "StartOver";
  }
}

export interface TransactionOptions {
  readonly onRetry?: (error: unknown, attempt: number) => void;
}

export type Tx = Transaction<Database>;

export async function inTransaction<T>(
  db: Kysely<Database>,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db
        .transaction()
        .execute(work);
    } catch (error) {
      if (attempt >= MAX_TRIES || !isWorthRetrying(error)) throw error;
      options.onRetry?.(error, attempt);
      if (error instanceof StartOver && attempt < MAX_TRIES / 2) continue;
      // Two that collided must not collide again in step.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt));
    }
  }
}

function isWorthRetrying(error: unknown): boolean {
  if (error instanceof StartOver) return true;
  const code = sqlState(error);
  return code !== undefined && RETRYABLE.has(code);
}

/** True if a lock was waited for longer than allowed. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === LOCK_NOT_AVAILABLE;
}

/** The five-character SQLSTATE of a driver error, looking through wrapped causes. */
export function sqlState(error: unknown): string | undefined {
  for (let at: unknown = error, hops = 0; at instanceof Error && hops < 5; at = at.cause, hops += 1) {
    const code: unknown = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}
