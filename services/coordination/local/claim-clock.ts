/**
 * The claim clock in the memory of one process: the rules of the port as plain functions
 * over one record per key. `redis/clock-scripts.ts` says the same in Lua; the contract
 * suite holds both to one model.
 *
 * Memory is lost with the process, so `dead` needs a process that has watched for a ttl.
 */
import type { ClaimClock, ClockEntry, LookOutcome, RenewOutcome } from "../port.ts";
import { retentionMs } from "../retention.ts";
import { ExpiringMap } from "./expiring-map.ts";

interface HeldRecord {
  readonly kind: "held";
  readonly fence: number;
  /** When this fence was first known, if only by the end of the one before it. */
  readonly sinceMs: number;
  readonly heardAtMs: number;
  /** The ttl at the last touch. */
  readonly ttlMs: number;
  /** The last touch, or null if only a renewal was heard. */
  readonly persistedAtMs: number | null;
}

/** What a drop leaves: the fence before it has ended, this one was not taken yet. */
interface Tombstone {
  readonly kind: "tombstone";
  readonly fence: number;
  readonly sinceMs: number;
}

type ClockRecord = HeldRecord | Tombstone;

export function createLocalClaimClock(monotonicMs: () => number): ClaimClock {
  const records = new ExpiringMap<ClockRecord>({ monotonicMs });
  let memorySinceMs: number | undefined;

  /** Memory begins with the first call: only calls know the database's time. */
  function remember(nowMs: number): number {
    memorySinceMs ??= nowMs;
    return memorySinceMs;
  }

  function touchOne({ key, fence, ttlMs }: ClockEntry, nowMs: number): void {
    const known = records.get(key);
    if (known && known.fence > fence) return;
    const same = known?.fence === fence ? known : undefined;
    records.set(
      key,
      {
        kind: "held",
        fence,
        sinceMs: same?.sinceMs ?? nowMs,
        // A late touch must not take back a renewal that came after it.
        heardAtMs: same?.kind === "held" ? Math.max(same.heardAtMs, nowMs) : nowMs,
        ttlMs,
        persistedAtMs: nowMs,
      },
      retentionMs(ttlMs),
    );
  }

  function renewOne(entry: ClockEntry, nowMs: number, memoryMs: number): RenewOutcome {
    const { key, fence, ttlMs } = entry;
    const known = records.get(key);
    if (known && known.fence > fence) return "superseded";
    if (known?.kind !== "held" || known.fence < fence) {
      const sinceMs = known?.fence === fence ? known.sinceMs : nowMs;
      records.set(
        key,
        { kind: "held", fence, sinceMs, heardAtMs: nowMs, ttlMs, persistedAtMs: null },
        retentionMs(ttlMs),
      );
      return "write";
    }
    const heardAtMs = Math.max(known.heardAtMs, nowMs);
    records.set(key, { ...known, heardAtMs }, retentionMs(Math.max(ttlMs, known.ttlMs)));
    return needsWrite(known, ttlMs, nowMs, memoryMs) ? "write" : "ok";
  }

  function dropOne({ key, fence, ttlMs }: ClockEntry, nowMs: number): void {
    const known = records.get(key);
    if (known && known.fence > fence) return;
    const tombstone: Tombstone = { kind: "tombstone", fence: fence + 1, sinceMs: nowMs };
    records.set(key, tombstone, retentionMs(ttlMs));
  }

  return {
    async touch(entries, nowMs) {
      remember(nowMs);
      for (const entry of entries) touchOne(entry, nowMs);
    },
    async renew(entries, nowMs) {
      const memoryMs = remember(nowMs);
      return entries.map((entry) => renewOne(entry, nowMs, memoryMs));
    },
    async drop(entries, nowMs) {
      remember(nowMs);
      for (const entry of entries) dropOne(entry, nowMs);
    },
    async look(entries, nowMs) {
      const memoryMs = remember(nowMs);
      return entries.map((entry) => judge(records.get(entry.key), entry, nowMs, memoryMs));
    },
  };
}

function needsWrite(known: HeldRecord, ttlMs: number, nowMs: number, memoryMs: number): boolean {
  const { persistedAtMs } = known;
  return (
    persistedAtMs === null ||
    ttlMs !== known.ttlMs ||
    persistedAtMs < memoryMs ||
    // Time went back: the instant says nothing about what the database has left.
    persistedAtMs > nowMs ||
    nowMs - persistedAtMs >= ttlMs / 2
  );
}

function judge(
  known: ClockRecord | undefined,
  { fence, ttlMs }: ClockEntry,
  nowMs: number,
  memoryMs: number,
): LookOutcome {
  if (!known || known.fence < fence) return { state: "unknown" };
  if (known.fence > fence) return deadSince(known.sinceMs, ttlMs, nowMs, memoryMs);
  if (known.kind === "tombstone") return { state: "unknown" };

  const endsAtMs = known.heardAtMs + ttlMs;
  if (endsAtMs <= nowMs) return deadSince(endsAtMs, ttlMs, nowMs, memoryMs);
  // The cap holds while time that went back has not caught up yet.
  return { state: "alive", msLeft: Math.min(endsAtMs - nowMs, ttlMs) };
}

function deadSince(endedAtMs: number, ttlMs: number, nowMs: number, memoryMs: number): LookOutcome {
  // What was lost with an older memory may have been a renewal.
  if (nowMs - memoryMs < ttlMs) return { state: "unknown" };
  return { state: "dead", sinceMs: Math.max(0, nowMs - endedAtMs) };
}
