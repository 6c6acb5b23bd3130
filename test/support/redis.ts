/** A corner of the run's Redis for every test file: a key prefix of its own, emptied at the end. */
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { testRedisUrl } from "./run.ts";

export interface TestRedis {
  readonly url: string;
  /** Ends with a colon. All keys of the test start with it. */
  readonly prefix: string;
  /** A client of the test's own, closed with the rest. It does not add the prefix. */
  connect(): Redis;
  /** Names of the keys under the prefix, without it. */
  keys(): Promise<string[]>;
  /** Removes them: what a wipe of the store means to this test alone. */
  wipe(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Give its prefix to whatever is tested. To stop, freeze or flush a Redis, start one with `startRedis`. */
export function createTestRedis(): TestRedis {
  const url = testRedisUrl();
  const prefix = `muster-test:${randomBytes(6).toString("hex")}:`;
  const own = new Redis(url, { maxRetriesPerRequest: 2 });
  const clients: Redis[] = [own];

  const find = async (): Promise<string[]> => {
    const found: string[] = [];
    let cursor = "0";
    do {
      const [next, keys] = await own.scan(cursor, "MATCH", `${prefix}*`, "COUNT", 1000);
      found.push(...keys);
      cursor = next;
    } while (cursor !== "0");
    return found;
  };
  const wipe = async (): Promise<void> => {
    const keys = await find();
    if (keys.length > 0) await own.unlink(...keys);
  };
  const close = async (): Promise<void> => {
    await wipe();
    for (const client of clients) client.disconnect();
  };
  return {
    url,
    prefix,
    connect: () => {
      const client = new Redis(url, { maxRetriesPerRequest: 2 });
      clients.push(client);
      return client;
    },
    keys: async () => (await find()).map((key) => key.slice(prefix.length)),
    wipe,
    close,
    [Symbol.asyncDispose]: close,
  };
}
