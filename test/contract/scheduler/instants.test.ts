/** What both sources of instants promise, and what only the one of a fleet has to. */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { DueInstant } from "../../../services/engine/instants.ts";
import { createBullmqInstants } from "../../../services/scheduler/bullmq-instants.ts";
import type { InstantSource } from "../../../services/scheduler/instant-source.ts";
import { createLocalInstants } from "../../../services/scheduler/local-instants.ts";
import { startRedis } from "../../support/redis-server.ts";
import { testRedisUrl } from "../../support/run.ts";
import { until } from "../../support/until.ts";

const log = { warn: (): void => undefined };
const sources: InstantSource[] = [];
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.close()));
});

interface Heard {
  readonly source: InstantSource;
  readonly calls: string[];
}

function listen(source: InstantSource): Heard {
  const calls: string[] = [];
  source.onDue((kind) => calls.push(kind));
  sources.push(source);
  return { source, calls };
}

function inMs(kind: DueInstant["kind"], ms: number): DueInstant {
  return { kind, at: Date.now() + ms, inMs: ms };
}

describe.each([
  ["local", () => () => createLocalInstants()],
  [
    "bullmq",
    () => {
      const prefix = `muster-test-${randomBytes(6).toString("hex")}`;
      return () => createBullmqInstants({ url: testRedisUrl(), prefix, log });
    },
  ],
])("instants (%s)", (_name, make) => {
  it("call when they are due, each kind by its own name", async () => {
    const { source, calls } = listen(make()());
    expect(await source.register(inMs("sweep", 60))).toBe(true);
    expect(await source.register(inMs("available", 20))).toBe(true);
    await until(() => calls.length === 2);
    expect(calls.toSorted()).toEqual(["available", "sweep"]);
  });

  it("that are due already call at once", async () => {
    const { source, calls } = listen(make()());
    await source.register(inMs("sweep", -500));
    await until(() => calls.length === 1);
  });

  it("registered twice call once", async () => {
    const { source, calls } = listen(make()());
    const instant = inMs("sweep", 30);
    await source.register(instant);
    await source.register(instant);
    await until(() => calls.length > 0);
    // Whatever a second call would have been is before this one.
    await source.register(inMs("available", 30));
    await until(() => calls.includes("available"));
    expect(calls).toEqual(["sweep", "available"]);
  });
});

describe("instants of a fleet", () => {
  it("registered by two schedulers call one of them, once", async () => {
    const url = testRedisUrl();
    const prefix = `muster-test-${randomBytes(6).toString("hex")}`;
    const make = (): Heard => listen(createBullmqInstants({ url, prefix, log }));
    const [one, other] = [make(), make()];
    const instant = inMs("sweep", 100);
    await Promise.all([one.source.register(instant), other.source.register(instant)]);
    await until(() => one.calls.length + other.calls.length > 0);
    await one.source.register(inMs("available", 30));
    await until(() => [...one.calls, ...other.calls].includes("available"));
    expect([...one.calls, ...other.calls].toSorted()).toEqual(["available", "sweep"]);
  });

  it("say that nothing is certain while Redis is away, close all the same, and work again once it is back", async () => {
    await using redis = await startRedis();
    const { source, calls } = listen(createBullmqInstants({ url: redis.url, log }));
    expect(await source.register(inMs("sweep", 10))).toBe(true);
    await until(() => calls.length === 1);
    const { memory } = source;
    await redis.kill();
    await until(() => source.memory > memory);
    expect(await source.register(inMs("sweep", 10))).toBe(false);

    const leaving = createBullmqInstants({ url: redis.url, log });
    leaving.onDue(() => undefined);
    await leaving.close();

    await redis.restart();
    await until(() => calls.length === 2);
    await until(() => source.register(inMs("available", 10)));
    await until(() => calls.includes("available"));
  });
});
