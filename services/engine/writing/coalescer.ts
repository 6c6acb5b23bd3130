/**
 * Collects the calls that arrive while the previous flush is in flight and sends them as
 * one. Under no load a call goes out at once; under load the batch grows by itself, so
 * that one commit carries many callers.
 *
 * A batch that fails is rolled back as a whole and its members run one by one: one bad
 * call must not take others with it. Calls that must not share a batch (two claims of
 * one holder) name the same `exclusive` key; the later one waits for the next flush.
 *
 * When the connection broke, nobody knows whether the batch was committed. A call with an
 * idempotency key finds out by running again; one without must not be run twice.
 */
export interface CoalescerOptions<Call, Answer> {
  readonly maxBatch: number;
  /** How many flushes may be in flight at once. */
  readonly lanes: number;
  /** Keys that may stand in a batch only once. */
  readonly exclusive: (call: Call) => readonly string[];
  /** Answers by position, in one transaction. */
  readonly runBatch: (calls: readonly Call[]) => Promise<readonly Answer[]>;
  readonly runOne: (call: Call) => Promise<Answer>;
  /** False for a call that must not be run again after this error of its batch; it gets the error. Unset: always true. */
  readonly mayRunAgain?: (error: unknown, call: Call) => boolean;
  readonly onBatchError?: (error: unknown, size: number) => void;
}

export interface Coalescer<Call, Answer> {
  submit(call: Call): Promise<Answer>;
}

/** Fewer calls than this are not worth a transaction of their own. */
const SHARE_MIN = 32;

interface Pending<Call, Answer> {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export function createCoalescer<Call, Answer>(
  options: CoalescerOptions<Call, Answer>,
): Coalescer<Call, Answer> {
  let queue: Pending<Call, Answer>[] = [];
  let inFlight = 0;
  let scheduled = false;

  const take = (limit: number): Pending<Call, Answer>[] => {
    const used = new Set<string>();
    const batch: Pending<Call, Answer>[] = [];
    const rest: Pending<Call, Answer>[] = [];
    for (const pending of queue) {
      const keys = options.exclusive(pending.call);
      if (batch.length >= limit || keys.some((key) => used.has(key))) {
        rest.push(pending);
        // Later calls on the same key must not overtake this one.
        for (const key of keys) used.add(key);
        continue;
      }
      for (const key of keys) used.add(key);
      batch.push(pending);
    }
    queue = rest;
    return batch;
  };

  const pump = (): void => {
    scheduled = false;
    while (queue.length > 0 && inFlight < options.lanes) {
      // Shared among the free lanes: while one waits for its commit, the other decides.
      const share = Math.max(SHARE_MIN, Math.ceil(queue.length / (options.lanes - inFlight)));
      const batch = take(Math.min(share, options.maxBatch));
      inFlight += 1;
      void flush(options, batch).finally(() => {
        inFlight -= 1;
        pump();
      });
    }
  };

  return {
    submit(call) {
      return new Promise<Answer>((resolve, reject) => {
        queue.push({ call, resolve, reject });
        if (scheduled || inFlight >= options.lanes) return;
        // Everything that arrives in this turn of the event loop goes out together.
        scheduled = true;
        setImmediate(pump);
      });
    },
  };
}

async function flush<Call, Answer>(
  options: CoalescerOptions<Call, Answer>,
  batch: readonly Pending<Call, Answer>[],
): Promise<void> {
  if (batch.length > 1) {
    try {
      const answers = await options.runBatch(batch.map((pending) => pending.call));
      if (answers.length !== batch.length) throw new Error("a batch answered the wrong number of calls");
      for (const [index, pending] of batch.entries()) pending.resolve(answers[index] as Answer);
      return;
    } catch (error) {
      options.onBatchError?.(error, batch.length);
      const refused = batch.filter(({ call }) => options.mayRunAgain?.(error, call) === false);
      for (const pending of refused) pending.reject(error);
      await runAlone(
        options,
        batch.filter((pending) => !refused.includes(pending)),
      );
      return;
    }
  }
  await runAlone(options, batch);
}

async function runAlone<Call, Answer>(
  options: CoalescerOptions<Call, Answer>,
  batch: readonly Pending<Call, Answer>[],
): Promise<void> {
  await Promise.all(batch.map(({ call, resolve, reject }) => options.runOne(call).then(resolve, reject)));
}
