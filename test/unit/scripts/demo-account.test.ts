import { describe, expect, it } from "vitest";
import type { JournalLine } from "../../../scripts/demo/journal.ts";
import { accountOf, accountText, type Evidence, type ItemEnd } from "../../../scripts/demo/tally.ts";

const DONE = { role: "terminal", outcome: "done", isClaimed: false };

function started(itemId: string, fence: number, attempt = 1): JournalLine {
  return { kind: "started", at: 0, itemId, fence, workerId: "w", title: itemId, attempt, workMs: 1 };
}

function finished(itemId: string, fence: number): JournalLine {
  return { kind: "finished", at: 0, itemId, fence, workerId: "w" };
}

/** Two tasks below one feature; `b` was killed while it held `two`, which `a` then did. */
function evidence(change: Partial<Evidence> = {}): Evidence {
  const items: [string, ItemEnd][] = ["feature", "one", "two"].map((title) => [title, { title, ...DONE }]);
  return {
    tasks: ["one", "two"],
    containers: ["feature"],
    items: new Map(items),
    held: 0,
    journals: new Map([
      ["a", [started("one", 1), finished("one", 1), started("two", 3, 2), finished("two", 3)]],
      ["b", [started("two", 1)]],
    ]),
    ends: new Map<string, number | NodeJS.Signals>([
      ["a", 0],
      ["b", "SIGKILL"],
    ]),
    killed: { worker: "b", itemId: "two" },
    ...change,
  };
}

describe("the account of the demo", () => {
  it("finds nothing wrong when every item was done once and the vanished one was taken over", () => {
    const account = accountOf(evidence());
    expect(account).toMatchObject({
      items: { planted: 3, done: 3 },
      finished: { files: 2, muster: 2 },
      attempts: { files: 3, muster: 3 },
      takeovers: { files: 1, muster: 1 },
      duplicates: 0,
      problems: [],
    });
    expect(accountText(account, 12.34)).toContain("Every item was done exactly once: 3 of 3 in 12.3 s.");
  });

  it("names a task that two workers finished", () => {
    const journals = new Map([
      ...evidence().journals,
      ["b", [started("two", 1), finished("two", 1)]],
    ] as const);
    const account = accountOf(evidence({ journals: new Map(journals) }));
    expect(account.duplicates).toBe(1);
    expect(account.problems).toContain('"two" was finished 2 times.');
    expect(accountText(account, 1)).not.toContain("exactly once");
  });

  it("names a task that nobody finished although Muster calls it done", () => {
    const journals = new Map([["a", [started("one", 1), finished("one", 1)]]]);
    expect(accountOf(evidence({ journals, killed: null, ends: new Map([["a", 0]]) })).problems).toEqual([
      'Nobody finished "two".',
    ]);
  });

  it("names what is not done, what is still claimed, and who did not end well", () => {
    const items = new Map(evidence().items).set("feature", {
      title: "feature",
      role: "work",
      outcome: null,
      isClaimed: true,
    });
    const ends = new Map<string, number | NodeJS.Signals>([
      ["a", 1],
      ["b", "SIGKILL"],
    ]);
    expect(accountOf(evidence({ items, ends, held: 1 })).problems).toEqual([
      '"feature" is not done: Muster says work.',
      '"feature" is still claimed.',
      "1 claims are still held.",
      "a ended with 1.",
    ]);
  });

  it("does not count an item that was handed back as a try", () => {
    const tenure = { at: 0, itemId: "one", fence: 1, workerId: "w" };
    const handedBack: JournalLine = { kind: "ended", ...tenure, how: "handed_back", reason: "later" };
    const own = [started("one", 1), handedBack, started("one", 3), finished("one", 3)];
    const journals = new Map([["a", [...own, started("two", 1), finished("two", 1)]]]);
    const account = accountOf(evidence({ journals, killed: null, ends: new Map([["a", 0]]) }));
    expect(account).toMatchObject({
      attempts: { files: 2, muster: 2 },
      takeovers: { files: 0 },
      problems: [],
    });
  });
});
