import { setImmediate as turn } from "node:timers/promises";
import type { CompiledQuery } from "kysely";
import { describe, expect, it } from "vitest";
import type { Handle } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";

/** A connection that answers everything, and what it was asked. */
function connection(): { db: Handle; asked: string[] } {
  const asked: string[] = [];
  const handle = {
    connection: () => ({ execute: (work: (handle: unknown) => unknown) => work(handle) }),
    executeQuery: async ({ sql }: CompiledQuery) => {
      asked.push(sql);
      return { rows: [] };
    },
  };
  return { db: handle as unknown as Handle, asked };
}

describe("a write that travels with the commit", () => {
  it("and fails while its transaction still asks something is that transaction's fault, not the process' end", async () => {
    const { db, asked } = connection();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const failed = inTransaction(db, async (_tx, tail) => {
        tail.send(Promise.reject(new Error("no room on the disk")));
        // An answer that comes later than the failure.
        for (let turns = 0; turns < 5; turns += 1) await turn();
      });
      await expect(failed).rejects.toThrow("no room on the disk");
      await turn();
    } finally {
      process.removeListener("unhandledRejection", note);
    }
    expect(unhandled).toEqual([]);
    // The database turns a commit behind a failed write into a rollback.
    expect(asked).toEqual(["begin", "commit"]);
  });
});
