/** Muster's engine as an API process runs it: claim with start, then complete, each with its own key, fence, audit and events. */
import { randomUUID } from "node:crypto";
import { migrate } from "../../../db/migrate.ts";
import { openDatabase } from "../../../db/open.ts";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import { operationByName } from "../../../services/contract/registry.ts";
import { UNVERIFIED } from "../../../services/engine/actors/actor-rules.ts";
import { createEngine } from "../../../services/engine/create-engine.ts";
import { createDatabaseTime } from "../../../services/engine/database-time.ts";
import { createSchemaSource } from "../../../services/engine/config/schema-source.ts";
import { DEFAULT_SETTINGS, defaultPolicies } from "../../../services/engine/deps.ts";
import type { Caller } from "../../../services/engine/engine.ts";
import type { Contender } from "../contender.ts";
import { plantQueue } from "../plant-queue.ts";

const QUIET = {
  info: () => {},
  warn: () => {},
  error: (data: object, message: string) => console.error(message, data),
};

export interface EngineContenderOptions {
  readonly selector?: Readonly<Record<string, unknown>>;
  readonly name?: string;
}

export async function engine(
  url: string,
  redisUrl: string,
  options: EngineContenderOptions = {},
): Promise<Contender> {
  const opened = await openDatabase({ url, poolSize: 8 });
  await migrate(opened.db);
  const coordination = createRedisCoordination({ url: redisUrl, prefix: `bench-${randomUUID()}:` });
  await coordination.health();
  const muster = createEngine({
    db: opened.db,
    coordination,
    time: createDatabaseTime(opened.db),
    log: QUIET,
    settings: DEFAULT_SETTINGS,
    policyOf: defaultPolicies,
    schemas: createSchemaSource({ log: QUIET }),
    actors: UNVERIFIED,
    random: Math.random,
  });
  const call = async (
    name: "claim_item" | "advance_item",
    input: object,
  ): Promise<Record<string, unknown>> => {
    const operation = operationByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await muster.execute(name, parseInput(operation, input), caller());
  };
  return {
    name: options.name ?? "muster engine",
    cycle: "claim_item (selector, start), then advance_item (complete)",
    async prepare(rows) {
      await plantQueue(opened.db, rows);
    },
    async run(number) {
      const actor = { id: `w${number}`, kind: "subagent" };
      const workerId = `slot-${number}`;
      const claimed = (await call("claim_item", {
        actor,
        workerId,
        requestId: randomUUID(),
        claims: [{ selector: options.selector ?? {}, start: true }],
      })) as { claims: { outcome: string; itemId: string; fence: number }[] };
      const claim = claimed.claims[0];
      if (claim?.outcome !== "success") throw new Error(`not claimed: ${JSON.stringify(claim)}`);
      const advanced = (await call("advance_item", {
        actor,
        workerId,
        requestId: randomUUID(),
        itemId: claim.itemId,
        trigger: "complete",
        fence: claim.fence,
      })) as { summary: { succeeded: number } };
      if (advanced.summary.succeeded !== 1) throw new Error(`not completed: ${JSON.stringify(advanced)}`);
      return claim.itemId;
    },
    async close() {
      await muster.close();
      await coordination.close();
      await opened.close();
    },
  };
}

function caller(): Caller {
  return { credential: null, session: null, client: null, requestId: "bench", signal: NEVER };
}

const NEVER = new AbortController().signal;
