import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll } from "vitest";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";
import { startRedis } from "../../support/redis-server.ts";
import { describeCoordination } from "./coordination.contract.ts";

/** Shared with other files when it was given, so everything here keeps to its own prefix. */
let url = process.env["MUSTER_TEST_REDIS_URL"] ?? "";
let admin: Redis;
let stopServer = async (): Promise<void> => {};

beforeAll(async () => {
  if (!url) {
    const server = await startRedis();
    url = server.url;
    stopServer = () => server.stop();
  }
  admin = new Redis(url);
});

afterAll(async () => {
  await admin.quit();
  await stopServer();
});

async function deleteAll(prefix: string): Promise<void> {
  const keys = await admin.keys(`${prefix}*`);
  if (keys.length > 0) await admin.unlink(...keys);
}

describeCoordination("redis", async () => {
  const prefix = `muster-test-${randomUUID()}:`;
  const first = createRedisCoordination({ url, prefix });
  const second = createRedisCoordination({ url, prefix });
  await Promise.all([first.health(), second.health()]);
  return {
    replicas: () => [first, second],
    forget: () => deleteAll(prefix),
    async close() {
      await Promise.all([first.close(), second.close()]);
      await deleteAll(prefix);
    },
  };
});
