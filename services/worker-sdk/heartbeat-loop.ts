/**
 * The loop that keeps claims alive: one call for all of them, a third of the shortest
 * ttl apart, so that two may fail before one is lost. It runs in the heartbeat thread,
 * and knows nothing of threads itself.
 *
 * A failed round is tried again soon, not a whole interval later. It never decides that
 * a claim is lost because nobody answered: only the server says so, or the trust window,
 * which the main thread watches, runs out.
 */
import { backoffMs } from "./backoff.ts";
import { openCell, type Beat, type FromThread, type TenureCell } from "./heartbeat-messages.ts";
import { renewAfter, trustedUntil } from "./trust-window.ts";
import type { LossCause } from "./errors.ts";
import type { RefreshRequest, RefreshResult } from "./shapes.ts";

/** One batch of renewals, tried once. Rejects when no answer came, or only a refusal of the whole call. */
export type RefreshFunc = (
  refreshes: readonly RefreshRequest[],
  timeoutMs: number,
) => Promise<{ readonly results: readonly RefreshResult[]; readonly firstTryAtMs: number }>;

export interface HeartbeatLoop {
  attach(beat: Beat): void;
}

export interface HeartbeatLoopOptions {
  readonly refresh: RefreshFunc;
  readonly report: (message: FromThread) => void;
  readonly now: () => number;
  readonly random?: () => number;
}

const BATCH_SIZE_MAX = 100;
const TRY_TIMEOUT_MIN_MS = 250;
const TRY_TIMEOUT_MAX_MS = 5_000;
const RETRY_BASE_MS = 50;
const RETRY_MAX_MS = 10_000;

interface Tended {
  readonly beat: Beat;
  readonly cell: TenureCell;
}

export function createHeartbeatLoop(options: HeartbeatLoopOptions): HeartbeatLoop {
  const { refresh, report, now, random = Math.random } = options;
  let tended: Tended[] = [];
  let timer: NodeJS.Timeout | undefined;
  let dueAtMs = Number.POSITIVE_INFINITY;
  let running = false;
  let failures = 0;

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    dueAtMs = now() + delayMs;
    timer = setTimeout(() => void round(), delayMs);
  }

  async function round(): Promise<void> {
    running = true;
    tended = tended.filter(({ cell }) => cell.state() === "held" || cell.state() === "ending");
    const due = tended.filter((each) => needsRenewal(each, now()));
    if (due.length > 0) report({ type: "round", sentAtMs: now() });
    const waits = await Promise.all(batchesOf(due).map(renewBatch));
    running = false;
    if (tended.length === 0) {
      dueAtMs = Number.POSITIVE_INFINITY;
      return;
    }
    failures = waits.some((wait) => wait !== null) ? failures + 1 : 0;
    schedule(Math.min(renewAfter(shortestTtl(tended), random()), ...waits.filter((wait) => wait !== null)));
  }

  /** Returns how soon to try again, or null when the batch got its answer. */
  async function renewBatch(batch: readonly Tended[]): Promise<number | null> {
    const ttlMs = shortestTtl(batch);
    const timeoutMs = Math.min(TRY_TIMEOUT_MAX_MS, Math.max(TRY_TIMEOUT_MIN_MS, ttlMs / 4));
    // Looked at again here: a tenure that ended since the round began is not renewed.
    const asked = batch.filter(({ cell }) => cell.state() !== "ended");
    if (asked.length === 0) return null;
    try {
      const requests = asked.map(({ beat }) => ({ itemId: beat.itemId, fence: beat.fence }));
      const { results, firstTryAtMs } = await refresh(requests, timeoutMs);
      const byItem = new Map(results.map((result) => [result.itemId, result]));
      for (const each of asked) settle(each, byItem.get(each.beat.itemId), firstTryAtMs, report);
      report({ type: "renewed", count: results.filter((result) => result.outcome === "success").length });
      return null;
    } catch (error) {
      report({
        type: "trouble",
        message: error instanceof Error ? error.message : String(error),
        code: codeOf(error),
      });
      const waitMs =
        retryAfterOf(error) ??
        backoffMs(failures, RETRY_BASE_MS, Math.min(ttlMs / 6, RETRY_MAX_MS), random());
      // What the server asks for is honoured, but not beyond the point where waiting loses the claims.
      return Math.min(waitMs, Math.max(RETRY_BASE_MS, shortestTrust(asked, now()) / 2));
    }
  }

  return {
    attach(beat) {
      tended.push({ beat, cell: openCell(beat.memory) });
      const delayMs = renewAfter(beat.ttlMs, random());
      if (!running && now() + delayMs < dueAtMs) schedule(delayMs);
    },
  };
}

/** Writes what the server said about one claim where the main thread reads it. */
function settle(
  { beat, cell }: Tended,
  result: RefreshResult | undefined,
  firstTryAtMs: number,
  report: (message: FromThread) => void,
): void {
  if (result === undefined) return;
  if (result.outcome === "success") {
    cell.extend(trustedUntil(firstTryAtMs, beat.ttlMs, result.msLeft));
    return;
  }
  const lossCause = lossCauseOf(result.outcome);
  // Anything else went wrong for this element only; the next round tries it again.
  if (lossCause === null || !cell.lose()) return;
  report({ type: "lost", itemId: beat.itemId, fence: beat.fence, lossCause });
}

/** While a result is being handed in, a renewal is only worth sending if that takes long. */
function needsRenewal({ beat, cell }: Tended, nowMs: number): boolean {
  return cell.state() !== "ending" || cell.trustedUntilMs() - nowMs < beat.ttlMs / 2;
}

function lossCauseOf(outcome: string): LossCause | null {
  return outcome === "claim_lost" || outcome === "tenure_over" || outcome === "not_found" ? outcome : null;
}

function batchesOf<T>(all: readonly T[]): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < all.length; start += BATCH_SIZE_MAX)
    batches.push(all.slice(start, start + BATCH_SIZE_MAX));
  return batches;
}

function shortestTtl(tended: readonly Tended[]): number {
  return Math.min(...tended.map(({ beat }) => beat.ttlMs));
}

function shortestTrust(tended: readonly Tended[], nowMs: number): number {
  return Math.min(...tended.map(({ cell }) => cell.trustedUntilMs() - nowMs));
}

function retryAfterOf(error: unknown): number | undefined {
  const after =
    typeof error === "object" && error !== null && "retryAfterMs" in error ? error.retryAfterMs : undefined;
  return typeof after === "number" ? after : undefined;
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unexpected";
}
