/** What is left of coordination when its Redis is wiped, restarted, frozen, killed or misconfigured. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClockEntry, Coordination, LookOutcome } from "../../../services/coordination/port.ts";
import {
  createRedisCoordination,
  type RedisCoordinationOptions,
} from "../../../services/coordination/redis/redis-coordination.ts";
import { freePort } from "../../support/free-port.ts";
import { type RedisServer, startRedis } from "../../support/redis-server.ts";
import { until } from "../../support/until.ts";
import { startCable } from "./cable.ts";
import { START_MS } from "./fixture.ts";

const TTL_MS = 60_000;
const CLAIM: ClockEntry = { key: "item", fence: 5, ttlMs: TTL_MS };
const UNKNOWN = [{ state: "unknown" }];
const LONG_MS = 10_000;
/** A machine that is busy with other tests is no Redis that is away. */
const PATIENT_MS = 5_000;
/** What callers get unless they choose; for tests of what a silent server costs them. */
const USUAL = { commandTimeoutMs: 250 };
/** A dozen calls that each waited for an answer would take three times as long. */
const NO_TIMEOUTS_MS = 1_000;

const never = new AbortController().signal;
let server: RedisServer;
let opened: Array<{ close(): unknown }> = [];

beforeEach(async () => {
  server = await startRedis();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await server.stop();
});

async function open(options: Partial<RedisCoordinationOptions> = {}): Promise<Coordination> {
  const coordination = createRedisCoordination({
    url: server.url,
    commandTimeoutMs: PATIENT_MS,
    ...options,
  });
  opened.push(coordination);
  await until(() => isUp(coordination));
  return coordination;
}

/** Runs one command on a connection of its own. */
async function admin(...command: [string, ...string[]]): Promise<unknown> {
  const redis = new Redis(server.url, { maxRetriesPerRequest: 1 });
  try {
    return await redis.call(...command);
  } finally {
    redis.disconnect();
  }
}

async function isUp(coordination: Coordination): Promise<boolean> {
  return (await coordination.health()).state === "up";
}

/** A clock that has watched for long and just heard of the claim. */
async function touchLongKnown({ claimClock }: Coordination): Promise<void> {
  await claimClock.look([CLAIM], START_MS - 10 * TTL_MS);
  await claimClock.touch([CLAIM], START_MS);
}

async function msOf(call: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await call();
  return performance.now() - startMs;
}

/** Every method answers what the port promises while the store is away. */
async function expectAway(coordination: Coordination): Promise<void> {
  const { claimClock, idempotency, counters, wakeUps, singleUses } = coordination;
  await claimClock.touch([CLAIM], START_MS);
  await claimClock.drop([CLAIM], START_MS);
  expect(await claimClock.renew([CLAIM, CLAIM], START_MS)).toEqual(["unknown", "unknown"]);
  expect(await claimClock.look([CLAIM], START_MS + 100 * TTL_MS)).toEqual(UNKNOWN);
  expect(await idempotency.get("key")).toBeNull();
  expect(await idempotency.begin("key", 1_000)).toBe(true);
  expect(await idempotency.begin("key", 1_000)).toBe(true);
  await idempotency.answer("key", { fingerprint: "f", answer: "1" }, 1_000);
  await idempotency.abandon("key");
  const use = { key: "key", purpose: "p", madeAtMs: START_MS, lifeMs: 1_000 };
  expect(await singleUses.use(use, START_MS)).toBe("unknown");
  const ticket = wakeUps.ticket(["a"]);
  wakeUps.publish(["a"]);
  expect(await ticket.wait(LONG_MS, never)).toBe(true);
  ticket.close();
  const key = `away-${performance.now()}`;
  expect(await counters.take(key, 1, 60_000, 1)).toMatchObject({ allowed: true });
  expect(await counters.take(key, 1, 60_000, 1)).toMatchObject({ allowed: false });
}

describe("a Redis that lost its memory", () => {
  async function expectForgotten({ claimClock }: Coordination): Promise<void> {
    const dueMs = START_MS + 2 * TTL_MS;
    expect(await claimClock.look([CLAIM], dueMs)).toEqual(UNKNOWN);
    expect(await claimClock.renew([CLAIM], dueMs)).toEqual(["write"]);
    await claimClock.touch([CLAIM], dueMs);
    expect(await claimClock.look([CLAIM], dueMs + TTL_MS - 1)).toEqual([{ state: "alive", msLeft: 1 }]);
    expect(await claimClock.look([CLAIM], dueMs + TTL_MS)).toEqual([{ state: "dead", sinceMs: 0 }]);
  }

  it("by FLUSHALL says unknown, never dead, until it has watched for a ttl", async () => {
    const coordination = await open();
    await touchLongKnown(coordination);
    await admin("FLUSHALL");
    await expectForgotten(coordination);
  });

  it("by a restart says unknown, never dead, until it has watched for a ttl", async () => {
    const coordination = await open();
    await touchLongKnown(coordination);
    await server.restart();
    await until(() => isUp(coordination));
    await expectForgotten(coordination);
  });

  it("in part, as a failover does, does not trust what it has from before", async () => {
    await server.stop();
    server = await startRedis({ appendonly: true });
    const coordination = await open();
    await touchLongKnown(coordination);
    const restartedMs = START_MS + TTL_MS - 10_000;
    await server.restart();
    await until(() => isUp(coordination));

    const { claimClock } = coordination;
    expect(await claimClock.look([CLAIM], restartedMs)).toEqual([{ state: "alive", msLeft: 10_000 }]);
    // A newer renewal, or the end of the tenure, may be what was lost.
    expect(await claimClock.look([CLAIM], restartedMs + TTL_MS - 1)).toEqual(UNKNOWN);
    expect(await claimClock.look([CLAIM], restartedMs + TTL_MS)).toMatchObject([{ state: "dead" }]);
    expect(await claimClock.renew([{ ...CLAIM, fence: 4 }], restartedMs)).toEqual(["superseded"]);
    expect(await claimClock.renew([CLAIM], START_MS + 1)).toEqual(["write"]);
    await claimClock.touch([CLAIM], restartedMs + 1);
    expect(await claimClock.renew([CLAIM], restartedMs + 2)).toEqual(["ok"]);
  });

  it("in part is never believed on the way back, however soon it is asked", async () => {
    await server.stop();
    server = await startRedis({ appendonly: true });
    const coordination = await open();
    await touchLongKnown(coordination);
    const dueMs = START_MS + TTL_MS;
    expect(await coordination.claimClock.look([CLAIM], dueMs)).toMatchObject([{ state: "dead" }]);
    await server.kill();
    await until(async () => !(await isUp(coordination)));
    const restarted = server.restart();

    // Every turn of the event loop asks, so that some question falls right behind the reconnect.
    const { claimClock } = coordination;
    const answers: Array<Promise<LookOutcome[]>> = [];
    const heard = new Set<string | undefined>();
    const deadline = performance.now() + LONG_MS;
    while (!heard.has("write") && performance.now() < deadline) {
      answers.push(claimClock.look([CLAIM], dueMs));
      void claimClock.renew([{ ...CLAIM, key: "other" }], dueMs).then(([outcome]) => heard.add(outcome));
      await nextTurn();
    }
    expect(heard).toContain("write");
    expect(new Set((await Promise.all(answers)).map(([answer]) => answer?.state))).toEqual(
      new Set(["unknown"]),
    );
    await restarted;
  });

  it("of scripts is taught them again", async () => {
    const coordination = await open();
    await touchLongKnown(coordination);
    await admin("SCRIPT", "FLUSH");
    expect(await coordination.claimClock.renew([CLAIM], START_MS + 1)).toEqual(["ok"]);
    await admin("SCRIPT", "FLUSH");
    const results = await Promise.all([
      coordination.claimClock.renew([CLAIM], START_MS + 1),
      coordination.claimClock.look([CLAIM], START_MS + 1),
    ]);
    expect(results).toEqual([["ok"], [{ state: "alive", msLeft: TTL_MS }]]);
  });
});

describe("a Redis that is away", () => {
  it("from the start holds nobody up, and is found when it comes", async () => {
    const port = await freePort();
    const lines: string[] = [];
    const log = {
      info: (_fields: object, message: string) => lines.push(message),
      warn: (_fields: object, message: string) => lines.push(message),
    };
    const coordination = createRedisCoordination({ url: `redis://127.0.0.1:${port}`, log });
    opened.push(coordination);
    expect(await coordination.health()).toEqual({ state: "down" });
    expect(await msOf(() => expectAway(coordination))).toBeLessThan(NO_TIMEOUTS_MS);
    await using late = await startRedis({ port });
    await until(() => isUp(coordination));
    await touchLongKnown(coordination);
    expect(await coordination.claimClock.renew([CLAIM], START_MS + 1)).toEqual(["ok"]);
    await late.kill();
    await until(() => lines.length === 3);
    await coordination.close();
    expect(lines).toEqual(["coordination store lost", "coordination store found", "coordination store lost"]);
  });

  it("because it was killed loses the calls in flight and those after it, at once", async () => {
    const coordination = await open();
    await touchLongKnown(coordination);
    const inFlight = Array.from({ length: 50 }, () => coordination.claimClock.renew([CLAIM], START_MS + 1));
    await server.kill();
    for (const [outcome] of await Promise.all(inFlight)) expect(["ok", "unknown"]).toContain(outcome);
    await until(async () => !(await isUp(coordination)));
    expect(await msOf(() => expectAway(coordination))).toBeLessThan(NO_TIMEOUTS_MS);
    await server.restart();
    await until(() => isUp(coordination));
    expect(await coordination.claimClock.renew([CLAIM], START_MS + 1)).toEqual(["write"]);
  });

  it("because it is frozen says unknown soon, then at once, and recovers", async () => {
    const coordination = await open(USUAL);
    await until(async () => {
      await touchLongKnown(coordination);
      return (await coordination.claimClock.look([CLAIM], START_MS))[0]?.state === "alive";
    });
    server.pause();
    const looks = Array.from({ length: 20 }, () =>
      coordination.claimClock.look([CLAIM], START_MS + 2 * TTL_MS),
    );
    const firstMs = await msOf(async () => {
      for (const answer of await Promise.all(looks)) expect(answer).toEqual(UNKNOWN);
    });
    expect(firstMs).toBeLessThan(NO_TIMEOUTS_MS);
    // After a while of silence it is given up, so nobody waits for it any more.
    await until(async () => (await coordination.health()).state === "down");
    await until(async () => (await msOf(() => coordination.claimClock.look([CLAIM], START_MS))) < 50);
    expect(await msOf(() => expectAway(coordination))).toBeLessThan(NO_TIMEOUTS_MS);
    server.resume();
    await until(() => isUp(coordination));
    // The same process with the same memory: what it says counts again.
    const look = () => coordination.claimClock.look([CLAIM], START_MS + TTL_MS);
    await until(async () => (await look())[0]?.state === "dead");
  });
});

describe("wake-ups around a lost connection", () => {
  it("wake every ticket when the connection is back", async () => {
    const coordination = await open();
    const ticket = coordination.wakeUps.ticket(["a"]);
    const waiting = ticket.wait(LONG_MS, never);
    await server.restart();
    expect(await waiting).toBe(true);
    ticket.close();
  });

  it("wake every ticket when only the listening connection was cut", async () => {
    const coordination = await open();
    const ticket = coordination.wakeUps.ticket(["a"]);
    const waiting = ticket.wait(LONG_MS, never);
    await admin("CLIENT", "KILL", "TYPE", "pubsub");
    expect(await waiting).toBe(true);
    await until(async () => (await coordination.health()).fault === undefined);
    const other = await open();
    const again = ticket.wait(LONG_MS, never);
    other.wakeUps.publish(["a"]);
    expect(await again).toBe(true);
    ticket.close();
  });

  it("make up for a publish that could not be sent", async () => {
    const receiver = await open();
    const published = Promise.withResolvers<void>();
    const sender = await open({
      log: {
        info: () => {},
        warn: () => {
          sender.wakeUps.publish(["a"]);
          published.resolve();
        },
      },
    });
    const ticket = receiver.wakeUps.ticket(["a"]);
    // Spares the listening connections, so that the receiver has no reason of its own to wake.
    await admin("CLIENT", "KILL", "TYPE", "normal");
    await published.promise;
    expect(await ticket.wait(LONG_MS, never)).toBe(true);
    ticket.close();
  });

  it("notice a cable that was cut although nothing is published", async () => {
    await using cable = await startCable(server.port);
    const coordination = await open({ ...USUAL, url: `redis://127.0.0.1:${cable.port}` });
    const ticket = coordination.wakeUps.ticket(["a"]);
    const waiting = ticket.wait(3 * LONG_MS, never);
    const before = cable.connections();
    cable.cut();
    await until(() => cable.connections() > before);
    cable.mend();
    expect(await waiting).toBe(true);
    ticket.close();
  });
});

describe("a Redis that is set up badly", () => {
  it("is reported when it may evict keys", async () => {
    const coordination = await open();
    await admin("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const health = await coordination.health();
    expect(health.state).toBe("up");
    expect(health.fault).toContain("allkeys-lru");
    expect(health.fault).toContain("noeviction");
  });

  it("that forbids INFO is reported, and its clock is not believed", async () => {
    await admin("ACL", "SETUSER", "muster", "on", ">secret", "~*", "&*", "+@all", "-info");
    const coordination = await open({ url: server.url.replace("//", "//muster:secret@") });
    const health = await coordination.health();
    expect(health.state).toBe("up");
    expect(health.fault).toContain("run_id");
    expect(await coordination.claimClock.renew([CLAIM], START_MS)).toEqual(["unknown"]);
    expect(await coordination.idempotency.begin("key", 1_000)).toBe(true);
    expect(await coordination.idempotency.begin("key", 1_000)).toBe(false);
  });

  it("is no reason to reject when its memory is full", async () => {
    const coordination = await open();
    await touchLongKnown(coordination);
    await admin("CONFIG", "SET", "maxmemory", "1");
    await expectAway(coordination);
    await admin("CONFIG", "SET", "maxmemory", "0");
    expect(await coordination.claimClock.renew([CLAIM], START_MS + 1)).toEqual(["ok"]);
  });

  it("is not asked while it is only somebody's replica, whose copy may be stale", async () => {
    const coordination = await open();
    await touchLongKnown(coordination);
    await admin("REPLICAOF", "127.0.0.1", String(await freePort()));
    expect(await coordination.claimClock.look([CLAIM], START_MS + TTL_MS)).toEqual(UNKNOWN);
    await admin("REPLICAOF", "NO", "ONE");
    await until(async () => (await coordination.claimClock.renew([CLAIM], START_MS + 1))[0] === "ok");
  });

  it("is refused by its address, which is not repeated, when that cannot be one of Redis", () => {
    for (const url of ["http://user:secret@localhost", "secret", ""]) {
      const attempt = (): Coordination => createRedisCoordination({ url });
      expect(attempt).toThrow(TypeError);
      expect(attempt).toThrow(/^(?!.*secret)/);
    }
  });
});

describe("the keys in Redis", () => {
  it("end by themselves, long after they could matter, and carry the prefix", async () => {
    const coordination = createRedisCoordination({ url: server.url, prefix: "mine:" });
    opened.push(coordination);
    await coordination.health();
    const { claimClock, idempotency, counters, singleUses } = coordination;
    await claimClock.touch([CLAIM], START_MS);
    await claimClock.renew(
      [
        { ...CLAIM, ttlMs: 2 * TTL_MS },
        { ...CLAIM, key: "b" },
      ],
      START_MS,
    );
    await claimClock.renew([CLAIM], START_MS);
    await claimClock.touch([{ ...CLAIM, key: "long", ttlMs: 2 * TTL_MS }], START_MS);
    await claimClock.renew([{ ...CLAIM, key: "long" }], START_MS);
    await claimClock.drop([{ ...CLAIM, key: "c" }], START_MS);
    await idempotency.answer("d", { fingerprint: "f", answer: "1" }, TTL_MS);
    await counters.take("e", 1, TTL_MS, 1);
    await singleUses.use({ key: "f", purpose: "p", madeAtMs: START_MS, lifeMs: TTL_MS }, START_MS);

    const keys = ((await admin("KEYS", "*")) as string[]).toSorted();
    expect(keys).toEqual([
      "mine:clock:b",
      "mine:clock:c",
      "mine:clock:item",
      "mine:clock:long",
      "mine:count:e",
      "mine:epoch",
      "mine:idempotency:d",
      "mine:use:f",
    ]);
    const lifeMs = async (key: string) => Number(await admin("PTTL", key));
    expect(await lifeMs("mine:clock:b")).toBeGreaterThan(1.5 * TTL_MS);
    expect(await lifeMs("mine:clock:b")).toBeLessThanOrEqual(1.5 * TTL_MS + 10_000);
    expect(await lifeMs("mine:clock:c")).toBeGreaterThan(1.5 * TTL_MS);
    expect(await lifeMs("mine:clock:long")).toBeGreaterThan(3 * TTL_MS);
    expect(await lifeMs("mine:count:e")).toBeLessThanOrEqual(TTL_MS);
    expect(await lifeMs("mine:use:f")).toBeLessThanOrEqual(TTL_MS);
    expect(await lifeMs("mine:use:f")).toBeGreaterThan(0);
    expect(await lifeMs("mine:epoch")).toBe(-1);
  });

  it("leaves another process's marker alone", async () => {
    const first = await open();
    const second = await open();
    await first.idempotency.begin("key", 60_000);
    await second.idempotency.abandon("key");
    expect(await first.idempotency.get("key")).toBe("in_flight");
  });
});

describe("closing", () => {
  const program = join(import.meta.dirname, "close-cleanly.ts");
  const close = (...moments: string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, [program, server.url, ...moments], { timeout: LONG_MS });

  it("lets the process end: at once, in use, and while the server is away", async () => {
    await close("at-once", "in-use");
    await server.kill();
    await close("at-once", "reconnecting");
  });

  it("lets the process end while the server is frozen", async () => {
    server.pause();
    await close("at-once", "reconnecting");
  });

  it("leaves no connection behind", async () => {
    const coordination = await open();
    const connections = async (): Promise<number> =>
      String(await admin("CLIENT", "LIST")).split("name=muster-").length - 1;
    expect(await connections()).toBe(2);
    await coordination.close();
    await until(async () => (await connections()) === 0);
  });

  it("sends what was published just before", async () => {
    const receiver = await open();
    const sender = await open();
    const ticket = receiver.wakeUps.ticket(["a"]);
    sender.wakeUps.publish(["a"]);
    await sender.close();
    expect(await ticket.wait(LONG_MS, never)).toBe(true);
    ticket.close();
  });
});
