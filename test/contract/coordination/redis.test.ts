import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll } from "vitest";
import type { Coordination } from "../../../services/coordination/port.ts";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";
import { startRedis } from "../../support/redis-server.ts";
import { until } from "../../support/until.ts";
import { describeCoordination } from "./coordination.contract.ts";

/** A machine that is busy with other tests is no Redis that is away. */
const PATIENT_MS = 5_000;

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

/** Both connections are there; the listening one wakes every ticket when it comes. */
async function isReady(coordination: Coordination): Promise<boolean> {
  const { state, fault } = await coordination.health();
  return state === "up" && fault === undefined;
}

describeCoordination("redis", async () => {
  const prefix = `muster-test-${randomUUID()}:`;
  const first = createRedisCoordination({ url, prefix, commandTimeoutMs: PATIENT_MS });
  const second = createRedisCoordination({ url, prefix, commandTimeoutMs: PATIENT_MS });
  for (const one of [first, second]) await until(() => isReady(one));
  return {
    replicas: () => [first, second],
    forget: () => deleteAll(prefix),
    async close() {
      await Promise.all([first.close(), second.close()]);
      await deleteAll(prefix);
    },
  };
});
