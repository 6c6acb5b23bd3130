import { describe, expect, it } from "vitest";
import {
  type Coalescer,
  type CoalescerOptions,
  createCoalescer,
} from "../../../services/engine/writing/coalescer.ts";

interface Call {
  readonly name: string;
  readonly keys?: readonly string[];
}

/** A coalescer whose flushes are finished by hand, in the order they were begun. */
function byHand(options: Partial<CoalescerOptions<Call, string>> = {}) {
  const begun: { readonly names: string[]; readonly finish: (error?: Error) => void }[] = [];
  const alone: string[] = [];
  let batches = 0;
  const coalescer: Coalescer<Call, string> = createCoalescer<Call, string>({
    maxBatch: 100,
    lanes: 1,
    exclusive: (call) => call.keys ?? [],
    runBatch: (calls) => {
      batches += 1;
      return new Promise((resolve, reject) => {
        const names = calls.map((call) => call.name);
        begun.push({
          names,
          finish: (error) => (error ? reject(error) : resolve(names.map((name) => `batch ${name}`))),
        });
      });
    },
    runOne: (call) => {
      alone.push(call.name);
      return new Promise((resolve, reject) => {
        begun.push({
          names: [call.name],
          finish: (error) => (error ? reject(error) : resolve(`alone ${call.name}`)),
        });
      });
    },
    ...options,
  });
  return {
    submit: (name: string, ...keys: string[]) => coalescer.submit({ name, keys }),
    begun,
    alone,
    batches: () => batches,
    /** Everything that is due in this turn of the event loop has been done. */
    turn: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
  };
}

describe("calls on their way to the database", () => {
  it("go out at once, alone, when nothing else is under way", async () => {
    const hand = byHand();
    const answer = hand.submit("a");
    await hand.turn();
    expect(hand.begun.map((flush) => flush.names)).toEqual([["a"]]);
    hand.begun[0]?.finish();
    expect(await answer).toBe("alone a");
  });

  it("gather while a flush is in flight and go out together", async () => {
    const hand = byHand();
    const answers = [hand.submit("a")];
    await hand.turn();
    answers.push(hand.submit("b"), hand.submit("c"));
    await hand.turn();
    answers.push(hand.submit("d"));
    await hand.turn();
    expect(hand.begun).toHaveLength(1);
    hand.begun[0]?.finish();
    await hand.turn();
    expect(hand.begun[1]?.names).toEqual(["b", "c", "d"]);
    hand.begun[1]?.finish();
    expect(await Promise.all(answers)).toEqual(["alone a", "batch b", "batch c", "batch d"]);
  });

  it("are no more at once than a batch may carry, and no more flushes than there are lanes", async () => {
    const hand = byHand({ maxBatch: 2, lanes: 2 });
    for (const name of ["a", "b", "c", "d", "e"]) void hand.submit(name);
    await hand.turn();
    expect(hand.begun.map((flush) => flush.names)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    hand.begun[0]?.finish();
    await hand.turn();
    expect(hand.begun[2]?.names).toEqual(["e"]);
  });

  it("never share a batch when they name the same key, and keep their order", async () => {
    const hand = byHand();
    for (const [name, ...keys] of [
      ["a1", "a"],
      ["b1", "b"],
      ["a2", "a"],
      ["ab", "a", "b"],
      ["b2", "b"],
      ["c1", "c"],
    ]) {
      void hand.submit(name as string, ...keys);
    }
    for (const names of [["a1", "b1", "c1"], ["a2"], ["ab"], ["b2"]]) {
      await hand.turn();
      expect(hand.begun.at(-1)?.names).toEqual(names);
      hand.begun.at(-1)?.finish();
    }
  });

  it("run one by one when their batch fails, so that one bad call takes no others with it", async () => {
    const errors: unknown[] = [];
    const hand = byHand({ onBatchError: (error, size) => errors.push([(error as Error).message, size]) });
    const answers = ["a", "bad", "c"].map((name) => hand.submit(name));
    const settled = Promise.allSettled(answers);
    await hand.turn();
    hand.begun[0]?.finish(new Error("rolled back"));
    await hand.turn();
    expect(hand.alone).toEqual(["a", "bad", "c"]);
    for (const flush of hand.begun.slice(1))
      flush.finish(flush.names[0] === "bad" ? new Error("it was me") : undefined);
    expect(
      (await settled).map((one) => (one.status === "fulfilled" ? one.value : String(one.reason))),
    ).toEqual(["alone a", "Error: it was me", "alone c"]);
    expect(errors).toEqual([["rolled back", 3]]);
  });

  it("are not run again when the batch may have been committed and running again would not find that out", async () => {
    const hand = byHand({
      mayRunAgain: (error, call) => !/connection/.test(String(error)) || call.name === "keyed",
    });
    const settled = Promise.allSettled(["keyed", "bare"].map((name) => hand.submit(name)));
    await hand.turn();
    hand.begun[0]?.finish(new Error("connection lost at commit"));
    await hand.turn();
    expect(hand.alone).toEqual(["keyed"]);
    hand.begun[1]?.finish();
    expect((await settled).map((one) => one.status)).toEqual(["fulfilled", "rejected"]);
  });

  it("are all refused when a batch answers the wrong number of calls and each of them fails alone", async () => {
    const hand = byHand({
      runBatch: async () => ["one"],
      runOne: async () => Promise.reject(new Error("no")),
    });
    const settled = await Promise.allSettled([hand.submit("a"), hand.submit("b")]);
    expect(settled.map((one) => one.status)).toEqual(["rejected", "rejected"]);
  });
});
