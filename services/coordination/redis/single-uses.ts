/** Single uses in Redis: one string per key, the purpose it was used for. */
import type { SingleUses, UseOutcome } from "../port.ts";
import { EPOCH_PRELUDE } from "./clock-scripts.ts";
import type { SessionWatch } from "./session.ts";

/** KEYS: the epoch, the thing. ARGV: run id, now, when it was made, its life, the purpose. */
const USE = `${EPOCH_PRELUDE}
local known = redis.call('GET', KEYS[2])
if known then
  if known == ARGV[5] then return 'again' end
  return 'spent'
end
-- It may have been used, and that forgotten.
if tonumber(ARGV[3]) < since_ms then return 'unknown' end
redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[4])
return 'fresh'
`;

export const SINGLE_USE_SCRIPTS = {
  musterSingleUse: { lua: USE, numberOfKeys: 2 },
};

export interface SingleUseCommands {
  readonly musterSingleUse: (
    epochKey: string,
    key: string,
    runId: string,
    nowMs: string,
    madeAtMs: string,
    lifeMs: string,
    purpose: string,
  ) => Promise<unknown>;
}

export interface RedisSingleUsesDeps {
  readonly redis: SingleUseCommands;
  readonly sessions: Pick<SessionWatch, "current">;
  readonly prefix: string;
}

const OUTCOMES: readonly UseOutcome[] = ["fresh", "again", "spent"];

export function createRedisSingleUses({ redis, sessions, prefix }: RedisSingleUsesDeps): SingleUses {
  return {
    async use({ key, purpose, madeAtMs, lifeMs }, nowMs) {
      const runId = sessions.current()?.runId;
      if (!runId) return "unknown";
      const [now, madeAt, life] = [nowMs, madeAtMs, Math.max(1, Math.ceil(lifeMs))].map((ms) =>
        String(Math.trunc(ms)),
      ) as [string, string, string];
      try {
        const reply = await redis.musterSingleUse(
          `${prefix}epoch`,
          `${prefix}use:${key}`,
          runId,
          now,
          madeAt,
          life,
          purpose,
        );
        return OUTCOMES.find((outcome) => outcome === reply) ?? "unknown";
      } catch {
        return "unknown";
      }
    },
  };
}
