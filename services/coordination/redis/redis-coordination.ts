/**
 * Coordination of a fleet through Redis 7 or Valkey. Two connections: one for commands,
 * one that listens for wake-ups. Whatever fails here is a lost call, never an error of the
 * caller: see the port for what each method answers then.
 *
 * Scripts touch several keys, so a Redis Cluster needs a prefix with a hash tag.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { createLocalCounters } from "../local/counters.ts";
import type { CoordinationLog } from "../log.ts";
import type { Coordination } from "../port.ts";
import { createWakeUpHub } from "../wake-up-hub.ts";
import { type ClockCommands, createRedisClaimClock } from "./claim-clock.ts";
import { CLOCK_SCRIPTS } from "./clock-scripts.ts";
import { type Address, closeConnection, openConnection } from "./connection.ts";
import { COUNTER_SCRIPTS, type CounterCommands, createRedisCounters } from "./counters.ts";
import { checkRedisHealth } from "./health.ts";
import {
  createRedisIdempotencyCache,
  IDEMPOTENCY_SCRIPTS,
  type IdempotencyCommands,
} from "./idempotency-cache.ts";
import { watchSession } from "./session.ts";
import { createRedisSingleUses, SINGLE_USE_SCRIPTS, type SingleUseCommands } from "./single-uses.ts";
import { createRedisWakeUps } from "./wake-ups.ts";

const COMMAND_TIMEOUT_MS = 250;

const PROTOCOLS: readonly string[] = ["redis:", "rediss:"];

export interface RedisCoordinationOptions {
  /** `redis://` or, with TLS, `rediss://`. */
  readonly url: string;
  /** Starts every key and the channel; installations that share a Redis differ in it. */
  readonly prefix?: string;
  /** What a frozen Redis costs a caller at most, until it is given up after four times as long. */
  readonly commandTimeoutMs?: number;
  readonly log?: CoordinationLog;
}

/**
 * Connects in the background and for ever; await `health()` to see whether it did.
 * @throws TypeError if the address cannot be one of Redis.
 */
export function createRedisCoordination({
  url,
  prefix = "muster:",
  commandTimeoutMs = COMMAND_TIMEOUT_MS,
  log,
}: RedisCoordinationOptions): Coordination {
  assertRedisUrl(url);
  const address = { url, commandTimeoutMs };
  const redis = openCommandConnection(address);
  const subscriber = openConnection(address, "wake-ups");
  const sessions = watchSession(redis, log);
  const hub = createWakeUpHub();
  const instanceId = randomUUID();
  const fallback = createLocalCounters(() => performance.now());
  const channel = createRedisWakeUps({ redis, subscriber, sessions, hub, prefix, instanceId });

  return {
    claimClock: createRedisClaimClock({ redis, sessions, prefix }),
    idempotency: createRedisIdempotencyCache({ redis, sessions, prefix, instanceId }),
    wakeUps: channel.wakeUps,
    counters: createRedisCounters({ redis, sessions, prefix, fallback }),
    singleUses: createRedisSingleUses({ redis, sessions, prefix }),
    health: () => checkRedisHealth({ redis, sessions, channel, epochKey: `${prefix}epoch` }),
    async close() {
      hub.close();
      await channel.close();
      sessions.close();
      await Promise.all([closeConnection(redis), closeConnection(subscriber)]);
    },
  };
}

type CommandConnection = Redis & ClockCommands & IdempotencyCommands & CounterCommands & SingleUseCommands;

function openCommandConnection(address: Address): CommandConnection {
  const redis = openConnection(address, "commands", {
    // Commands of one turn of the event loop share a packet.
    enableAutoPipelining: true,
    scripts: { ...CLOCK_SCRIPTS, ...IDEMPOTENCY_SCRIPTS, ...COUNTER_SCRIPTS, ...SINGLE_USE_SCRIPTS },
  });
  // The client defines a method for each script; its types cannot say so.
  return redis as CommandConnection;
}

/** The address may hold a password, so the message does not repeat it. */
function assertRedisUrl(url: string): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== undefined && PROTOCOLS.includes(protocol)) return;
  throw new TypeError("The address of Redis must be a redis:// or rediss:// URL.");
}
