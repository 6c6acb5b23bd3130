/**
 * Instants of a fleet: delayed entries of one BullMQ queue, which one of the schedulers gets.
 * The id of an entry names its instant, so all schedulers may register it and it fires once.
 */
import { type Processor, Queue, Worker } from "bullmq";
import type { DueInstant } from "../engine/instants.ts";
import type { Log } from "../runtime/log.ts";
import { DELAY_MAX_MS, type InstantSource, SLACK_MS } from "./instant-source.ts";

const QUEUE = "muster-instants";
/** A registration that takes longer than this goes on without us. */
const REGISTER_MS_MAX = 1_000;
const RECONNECT_MS_MAX = 2_000;

export interface BullmqInstantsOptions {
  readonly url: string;
  /** Starts every key of the queue. */
  readonly prefix?: string;
  readonly log: Pick<Log, "warn">;
}

export function createBullmqInstants(options: BullmqInstantsOptions): InstantSource {
  const { url, prefix = "muster", log } = options;
  const connection = {
    url,
    connectionName: "muster-instants",
    // BullMQ asks for this: its blocking connection waits for as long as Redis is away.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(RECONNECT_MS_MAX, 50 * 2 ** Math.min(times, 10)),
  };
  let memory = 0;
  let registering: Promise<boolean> | undefined;
  let worker: Worker | undefined;

  const queue = new Queue(QUEUE, { connection, prefix });
  // Coordination reports losing and finding Redis; here it would be said once per connection and try.
  queue.on("error", () => {});
  queue.on("ioredis:close", () => (memory += 1));

  return {
    get memory() {
      return memory;
    },
    async register({ kind, at, inMs }) {
      // While Redis is away commands queue up in its client; one of ours is enough.
      if (registering !== undefined) return false;
      const delay = Math.min(DELAY_MAX_MS, Math.max(0, Math.ceil(inMs)) + SLACK_MS);
      const options = { jobId: `${kind}-${at}`, delay, removeOnComplete: true, removeOnFail: true };
      registering = queue.add(kind, {}, options).then(
        () => true,
        () => false,
      );
      void registering.then(() => (registering = undefined));
      return Promise.race([registering, after(REGISTER_MS_MAX).then(() => false)]);
    },
    onDue(listener) {
      const keep = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };
      // Ours are the only entries of this queue, and `register` gave them their names.
      const call: Processor = async ({ name }) => listener(name as DueInstant["kind"]);
      const started = new Worker(QUEUE, call, { connection, prefix, concurrency: 1, ...keep });
      started.on("error", () => {});
      started.on("failed", (_entry, error) => log.warn({ err: error }, "instant failed"));
      worker = started;
    },
    async close() {
      // By force: what is running is a nudge, and with Redis away a polite end never comes.
      await Promise.all([worker?.close(true), queue.close()]);
    },
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
