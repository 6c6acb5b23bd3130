/** Items in memory with just enough of Muster's rules: one holder, fences that rise, ttls that end. */
import { randomUUID } from "node:crypto";
import type { ClaimEntry, ClaimResult } from "../../../services/contract/claiming.ts";
import type {
  AdvanceItemInput,
  AdvanceItemOutput,
} from "../../../services/contract/operations/advance-item.ts";
import type { ClaimItemInput, ClaimItemOutput } from "../../../services/contract/operations/claim-item.ts";

interface FakeItem {
  readonly id: string;
  readonly title: string;
  role: "queue" | "work" | "review" | "terminal";
  hasReview: boolean;
  fence: number;
  attempt: number;
  ttlSeconds: number;
  holder: { readonly agent: string; readonly session: string } | null;
  expiresAtMs: number;
  failures: { readonly reason: string | undefined; readonly class: string | undefined }[];
}

export interface FakeFleet {
  readonly items: FakeItem[];
  add(title: string, more?: Partial<FakeItem>): FakeItem;
  /** Somebody else takes the item: the fence rises and the holder changes. */
  takeAway(item: FakeItem): void;
  /** Resolves as soon as it is so; looked at after each change. */
  until(condition: () => boolean): Promise<void>;
  claimItem(input: ClaimItemInput, gone: AbortSignal): Promise<ClaimItemOutput>;
  advanceItem(input: AdvanceItemInput): AdvanceItemOutput;
  close(): void;
}

export function createFakeFleet(): FakeFleet {
  const items: FakeItem[] = [];
  const answers = new Map<string, object>();
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };

  function until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition() && signal?.aborted !== true) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      signal?.addEventListener("abort", look, { once: true });
      look();
    });
  }

  const isFree = (item: FakeItem): boolean => item.holder === null || item.expiresAtMs <= Date.now();
  const offered = (entry: ClaimEntry): FakeItem | undefined =>
    items.find((item) => isFree(item) && (entry.selector?.role ?? ["queue", "work"]).includes(item.role));

  function grant(entry: ClaimEntry, agent: string, session: string): ClaimResult {
    const item = offered(entry);
    if (item === undefined) return refusal(items.some((each) => each.role !== "terminal"));
    // One claim for each worker: a new one ends the old.
    for (const held of items) if (held.holder?.session === session) free(held);
    Object.assign(item, {
      holder: { agent, session },
      fence: item.fence + 1,
      attempt: item.attempt + 1,
      ttlSeconds: entry.ttlSeconds,
    });
    item.expiresAtMs = Date.now() + entry.ttlSeconds * 1000;
    if (entry.start && item.role === "queue") item.role = "work";
    changed();
    return granted(item);
  }

  function free(item: FakeItem): void {
    item.holder = null;
    item.fence += 1;
    changed();
  }

  const fleet: FakeFleet = {
    items,
    until: (condition) => until(condition),
    add(title, more = {}) {
      const item: FakeItem = {
        id: randomUUID(),
        title,
        role: "queue",
        hasReview: false,
        fence: 0,
        attempt: 0,
        ttlSeconds: 0,
        holder: null,
        expiresAtMs: 0,
        failures: [],
        ...more,
      };
      items.push(item);
      changed();
      return item;
    },
    takeAway(item) {
      item.fence += 1;
      item.holder = { agent: "somebody else", session: "elsewhere" };
      item.expiresAtMs = Date.now() + 60_000;
      changed();
    },
    async claimItem(input, gone) {
      const { actor, requestId, workerId = "minted", waitSeconds, claims, releases, refreshes } = input;
      const stored = answers.get(requestId);
      if (stored !== undefined) return { ...(stored as ClaimItemOutput), replayed: true };
      const [entry] = claims;
      if (entry !== undefined && waitSeconds > 0) {
        const timeUp = AbortSignal.any([gone, AbortSignal.timeout(waitSeconds * 1000)]);
        await until(() => offered(entry) !== undefined, timeUp);
        if (gone.aborted) return { claims: [refusal(true)], releases: [], refreshes: [], workerId };
      }
      const output: ClaimItemOutput = {
        claims: claims.map((each) => grant(each, actor.id, workerId)),
        refreshes: refreshes.map(({ itemId, fence }) => {
          const item = items.find(({ id }) => id === itemId);
          if (item === undefined) return { itemId, outcome: "not_found" };
          if (item.fence !== fence || item.holder?.agent !== actor.id)
            return { itemId, outcome: "claim_lost" };
          item.expiresAtMs = Date.now() + item.ttlSeconds * 1000;
          return { itemId, outcome: "success", msLeft: item.ttlSeconds * 1000, fence };
        }),
        releases: releases.map(({ itemId, fence, requeue }) => {
          const item = items.find(({ id }) => id === itemId);
          if (item === undefined) return { itemId, outcome: "not_found" };
          if (item.holder?.session !== workerId || item.fence !== fence)
            return { itemId, outcome: "claim_lost" };
          if (requeue && item.role === "work") item.role = "queue";
          free(item);
          return { itemId, outcome: "success", requeued: requeue };
        }),
        workerId,
      };
      if (output.claims.some(({ outcome }) => outcome === "success")) answers.set(requestId, output);
      return output;
    },
    advanceItem(input) {
      const stored = answers.get(input.requestId ?? "");
      if (stored !== undefined) return stored as AdvanceItemOutput;
      const results = input.transitions.map((transition) => advance(transition, input.workerId));
      const succeeded = results.filter(({ applied }) => applied).length;
      const output: AdvanceItemOutput = {
        results,
        summary: { total: results.length, succeeded, failed: results.length - succeeded },
        ...(input.claimNext === undefined || succeeded < results.length
          ? {}
          : { next: grant(input.claimNext, input.actor?.id ?? "?", input.workerId ?? "minted") }),
      };
      if (succeeded === results.length) answers.set(input.requestId ?? "", output);
      return output;
    },
    close: () => watchers.clear(),
  };

  function advance(
    transition: AdvanceItemInput["transitions"][number],
    session: string | undefined,
  ): AdvanceItemOutput["results"][number] {
    const { itemId, trigger, fence } = transition;
    const item = items.find(({ id }) => id === itemId);
    if (item === undefined || item.fence !== fence || item.holder?.session !== session) {
      return {
        itemId,
        trigger,
        applied: false,
        error: "The claim has ended",
        errorCode: "claim_lost",
        errorKind: "permanent",
      };
    }
    const previousRole = item.role;
    if (trigger === "fail") item.failures.push({ reason: transition.reason, class: transition.class });
    item.role =
      trigger === "fail"
        ? "queue"
        : trigger === "start" && item.hasReview && item.role === "work"
          ? "review"
          : "terminal";
    const claimReleased = item.role !== "review";
    if (claimReleased) free(item);
    changed();
    return {
      itemId,
      trigger,
      applied: true,
      newRole: item.role,
      previousRole,
      claimReleased,
      fence: item.fence,
      expectedNotes: [],
    };
  }

  return fleet;
}

function granted(item: FakeItem): ClaimResult {
  return {
    itemId: item.id,
    outcome: "success",
    claimedBy: item.holder?.agent ?? "?",
    claimedAt: new Date().toISOString(),
    claimExpiresAt: new Date(item.expiresAtMs).toISOString(),
    ttlSeconds: item.ttlSeconds,
    msLeft: item.ttlSeconds * 1000,
    fence: item.fence,
    attempt: item.attempt,
    item: { id: item.id, title: item.title, role: item.role, priority: "medium" },
  };
}

function refusal(some: boolean): ClaimResult {
  return some
    ? {
        outcome: "none_eligible",
        kind: "transient",
        error: "None is free",
        hint: "Wait",
        retryAfterMs: 50,
        excluded: { claimed: 1 },
      }
    : { outcome: "queue_empty", kind: "permanent", error: "Nothing matches", hint: "Wait" };
}
