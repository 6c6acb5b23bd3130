import type { Redis } from "ioredis";
import type { CoordinationHealth } from "../port.ts";
import type { SessionWatch } from "./session.ts";
import type { RedisWakeUps } from "./wake-ups.ts";

/** A start asks for health right away; it should see the first connection succeed. */
const FIRST_ATTEMPT_MS_MAX = 1_000;

export interface RedisHealthDeps {
  readonly redis: Pick<Redis, "ping" | "info" | "get">;
  readonly sessions: Pick<SessionWatch, "current" | "firstAttempt">;
  readonly epochKey: string;
  readonly channel: Pick<RedisWakeUps, "listening" | "firstAttempt">;
}

export async function checkRedisHealth(deps: RedisHealthDeps): Promise<CoordinationHealth> {
  const { redis, sessions, channel } = deps;
  await within(FIRST_ATTEMPT_MS_MAX, [sessions.firstAttempt, channel.firstAttempt]);
  if (!sessions.current()) return { state: "down" };
  try {
    await redis.ping();
  } catch {
    return { state: "down" };
  }
  const [fault, memory] = await Promise.all([findFault(deps), findMemory(deps)]);
  return { state: "up", ...(fault === undefined ? {} : { fault }), ...memory };
}

/** The epoch of the claim clock. One of another server process counts as none: that memory is gone. */
async function findMemory({
  redis,
  sessions,
  epochKey,
}: RedisHealthDeps): Promise<Pick<CoordinationHealth, "remembersSinceMs">> {
  const runId = sessions.current()?.runId;
  if (!runId) return {};
  try {
    const [known, since] = (await redis.get(epochKey))?.split(" ") ?? [];
    return { remembersSinceMs: known === runId && since !== undefined ? Number(since) : null };
  } catch {
    return {};
  }
}

async function findFault({ redis, sessions, channel }: RedisHealthDeps): Promise<string | undefined> {
  if (sessions.current()?.runId === null) {
    return "Redis does not tell its run_id (INFO server): a lost memory cannot be noticed, so the claim clock stays unused. Allow INFO to this user.";
  }
  const policy = await readEvictionPolicy(redis);
  if (policy === undefined) {
    return "Redis does not tell its maxmemory-policy (INFO memory). Allow INFO to this user, and make sure that the policy is noeviction.";
  }
  if (policy !== "noeviction") {
    return `Redis evicts keys under memory pressure (maxmemory-policy ${policy}), which can lose timers and claims' renewals. Set maxmemory-policy noeviction.`;
  }
  if (!channel.listening()) return "The wake-up channel is not subscribed: waiting claims notice news late.";
  return undefined;
}

/** From INFO, since hosted Redis often forbids CONFIG. */
async function readEvictionPolicy(redis: Pick<Redis, "info">): Promise<string | undefined> {
  try {
    return /^maxmemory_policy:(\S+)/m.exec(await redis.info("memory"))?.[1];
  } catch {
    return undefined;
  }
}

async function within(ms: number, promises: readonly Promise<void>[]): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([Promise.all(promises), late.promise]);
  clearTimeout(timer);
}
