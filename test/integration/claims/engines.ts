/** Engines to claim with: one process alone, or one replica of a fleet that shares a Redis. */
import { afterAll, beforeAll, describe } from "vitest";
import type { OpenDatabase } from "../../../db/open.ts";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";
import { createTestDatabase, describeEachDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, type TestEngineOptions } from "../../support/engine.ts";
import { createTestRedis, type TestRedis } from "../../support/redis.ts";
import { until } from "../../support/until.ts";

/** A machine that is busy with other tests is no Redis that is away. */
const PATIENT_MS = 5_000;

export interface Bench {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
}

/** Runs a suite for a process alone (on either database) and for a replica with Redis. */
export function describeEachWay(name: string, suite: (bench: () => Bench) => void): void {
  describeEachDatabase(name, (database) => {
    let engine: TestEngine | undefined;
    beforeAll(() => {
      engine = createTestEngine(database());
    });
    afterAll(async () => engine?.close());
    suite(() => {
      if (engine === undefined) throw new Error("The engine is there inside hooks and tests only.");
      return { database: database(), engine };
    });
  });
  describe(`${name} on pg with redis`, () => {
    const fleet = useFleet(1);
    suite(() => {
      const [engine] = fleet.engines;
      if (engine === undefined) throw new Error("a fleet of one has no engine");
      return { database: fleet.database, engine };
    });
  });
}

/** What a suite has between its first test and its last. */
export interface SuiteFleet {
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  readonly engines: readonly TestEngine[];
}

/** Opens replicas over one Postgres and one Redis for the suite that calls it, and closes them after it. */
export function useFleet(size: number, options: Omit<TestEngineOptions, "coordination"> = {}): SuiteFleet {
  let opened: { database: TestDatabase; redis: TestRedis; fleet: Fleet } | undefined;
  beforeAll(async () => {
    const database = await createTestDatabase({ kind: "pg", poolSize: 5 });
    const redis = createTestRedis();
    opened = { database, redis, fleet: await openFleet(database, redis, size, options) };
  });
  afterAll(async () => {
    await opened?.fleet.close();
    await opened?.database.close();
    await opened?.redis.close();
  });
  const present = () => {
    if (opened === undefined) throw new Error("The fleet is there inside hooks and tests only.");
    return opened;
  };
  return {
    get database() {
      return present().database;
    },
    get redis() {
      return present().redis;
    },
    get engines() {
      return present().fleet.engines;
    },
  };
}

export interface Fleet {
  readonly engines: readonly TestEngine[];
  close(): Promise<void>;
}

/** Engines as so many API processes would have them: each its own pool and its own connections to one Redis. */
export async function openFleet(
  database: TestDatabase,
  redis: TestRedis,
  size: number,
  options: Omit<TestEngineOptions, "coordination"> = {},
): Promise<Fleet> {
  const coordinations = Array.from({ length: size }, () =>
    createRedisCoordination({ url: redis.url, prefix: redis.prefix, commandTimeoutMs: PATIENT_MS }),
  );
  for (const one of coordinations) await until(async () => (await one.health()).state === "up");
  const engines: TestEngine[] = [];
  for (const coordination of coordinations) {
    const replica: Pick<OpenDatabase, "db"> = await database.openAnother();
    engines.push(createTestEngine(replica, { ...options, coordination }));
  }
  return {
    engines,
    async close() {
      for (const engine of engines) await engine.close();
      await Promise.all(coordinations.map((one) => one.close()));
    },
  };
}
