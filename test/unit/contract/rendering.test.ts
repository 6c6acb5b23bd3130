import { describe, expect, it } from "vitest";
import type { ClaimGranted } from "../../../services/contract/claiming.ts";
import { advanceItem } from "../../../services/contract/operations/advance-item.ts";
import { claimItem } from "../../../services/contract/operations/claim-item.ts";
import { explainItem } from "../../../services/contract/operations/explain-item.ts";
import { getNextItem } from "../../../services/contract/operations/get-next-item.ts";
import { manageItems } from "../../../services/contract/operations/manage-items.ts";
import { queryItems } from "../../../services/contract/operations/query-items.ts";

const ITEM = "0f8fad5b-d9cb-469f-a165-70867728950e";
const OTHER = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

const granted: ClaimGranted = {
  itemId: ITEM,
  outcome: "success",
  claimedBy: "worker-1",
  claimedAt: "2026-01-01T00:00:00Z",
  claimExpiresAt: "2026-01-01T00:15:00Z",
  ttlSeconds: 900,
  msLeft: 900_000,
  fence: 7,
  attempt: 2,
  item: {
    id: ITEM,
    title: "Fix the\nlogin",
    role: "work",
    priority: "high",
    summary: "Why it matters",
    tags: "ui,bug",
  },
};

describe("the text of an answer", () => {
  it("of a claim is enough to go on: full id, fence, workerId, expiry, next step", () => {
    const text = claimItem.render({ claims: [granted], releases: [], refreshes: [], workerId: "w-1" });
    for (const part of [
      ITEM,
      "fence=7",
      "workerId=w-1",
      "expires=2026-01-01T00:15:00Z",
      "advance_item",
      "Fix the login",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('{"');
  });

  it("of an empty claim says why, and when to look again", () => {
    const text = claimItem.render({
      claims: [
        {
          outcome: "none_eligible",
          kind: "transient",
          error: "3 items match, none is free",
          hint: "Wait.",
          retryAfterMs: 4_000,
          excluded: { claimed: 2, dependencyBlocked: 1 },
        },
      ],
      releases: [],
      refreshes: [],
      workerId: "w-1",
    });
    expect(text).toContain(
      "NOT CLAIMED none_eligible (transient): 3 items match, none is free retryAfterMs=4000",
    );
    expect(text).toContain("claimed=2 dependencyBlocked=1");
    expect(text).toContain("Next: Wait.");
  });

  it("of a lost refresh tells to stop", () => {
    const text = claimItem.render({
      claims: [],
      releases: [],
      refreshes: [{ itemId: ITEM, outcome: "claim_lost" }],
      workerId: "w",
    });
    expect(text).toContain(`NOT RENEWED ${ITEM} claim_lost: stop working on it`);
  });

  it("of a transition shows where the item went, what was refused and what comes next", () => {
    const text = advanceItem.render({
      results: [
        {
          itemId: ITEM,
          trigger: "start",
          applied: true,
          newRole: "terminal",
          previousRole: "work",
          expectedNotes: [],
          unblockedItems: [{ itemId: OTHER, title: "Next" }],
        },
        {
          itemId: OTHER,
          trigger: "start",
          applied: false,
          error: "blocked",
          errorCode: "dependency_blocked",
          errorKind: "permanent",
          hint: "Do X.",
          blockers: [{ fromItemId: ITEM, currentRole: "work", requiredRole: "terminal" }],
        },
      ],
      summary: { total: 2, succeeded: 1, failed: 1 },
      next: granted,
      workerId: "w-1",
    });
    expect(text).toContain(`${ITEM} start: work -> terminal`);
    expect(text).toContain(`unblocked ${OTHER}`);
    expect(text).toContain(`REFUSED ${OTHER} start: dependency_blocked: blocked`);
    expect(text).toContain("waits for " + ITEM);
    expect(text).toContain("CLAIMED " + ITEM);
    expect(text).toContain("fence=7 workerId=w-1");
  });

  it("of a long list is cut, and says how much is missing", () => {
    const items = Array.from({ length: 100 }, (_, index) => ({
      id: ITEM,
      title: `Item ${index}`,
      role: "queue" as const,
      priority: "low" as const,
    }));
    const text = queryItems.render({
      items,
      total: 300,
      returned: 100,
      hasMore: true,
      limit: 100,
      offset: 0,
    });
    expect(text.split("\n")).toHaveLength(41);
    expect(text).toMatch(/… and 61 more$/);
    expect(text).toContain("next page: offset 100");
  });

  it("of a creation lists the ids in full", () => {
    const item = {
      id: ITEM,
      title: "a",
      depth: 0,
      role: "queue" as const,
      priority: "low" as const,
      version: 1,
      requiresVerification: false,
      tags: null,
      schemaMatch: false,
      expectedNotes: [],
    };
    const failures = [
      { index: 1, error: "no such parent", errorCode: "RESOURCE_NOT_FOUND", errorKind: "permanent" },
    ];
    const text = manageItems.render({ items: [item], created: 1, failed: 1, failures });
    expect(text).toContain("created 1, failed 1");
    expect(text).toContain(ITEM);
    expect(text).toContain("FAILED #1: RESOURCE_NOT_FOUND: no such parent");
  });

  it("of twenty recommendations stays below 1,500 tokens", () => {
    const recommendations = Array.from({ length: 20 }, () => ({
      itemId: ITEM,
      title: "A title of a usual length for an item",
      role: "queue" as const,
      priority: "high" as const,
      complexity: 3,
      reason: "unblocks 3, high priority",
    }));
    expect(getNextItem.render({ recommendations, total: 20 }).length / 4).toBeLessThan(1_500);
  });

  it("of an explanation names each reason and what clears it", () => {
    const reasons = [
      { code: "waiting", message: "backs off", clearedBy: "time", until: "2026-01-01T00:00:00Z" },
    ];
    const text = explainItem.render({ itemId: ITEM, offered: false, role: "queue", reasons });
    expect(text).toContain("- waiting: backs off (until=2026-01-01T00:00:00Z) Cleared by: time");
  });
});
