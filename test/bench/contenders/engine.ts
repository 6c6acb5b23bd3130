/** Muster's engine as an API process runs it: claim with start, then complete, each with its own key, fence, audit and events. */
import { FULL_ACCESS } from "../../../services/engine/access.ts";
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
  /** Complete and claim the next in one call, as a worker does; the first claim of each caller is a call of its own. */
  readonly claimNext?: boolean;
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
  const selector = options.selector ?? {};
  const who = (number: number): object => ({
    actor: { id: `${options.claimNext === true ? "n" : "w"}${number}`, kind: "subagent" },
    workerId: `slot-${number}`,
    requestId: randomUUID(),
  });
  const claim = async (number: number): Promise<Claimed> => {
    const entry = { selector, start: true };
    const output = await call("claim_item", { ...who(number), claims: [entry] });
    return claimedOf((output as { claims: Claimed[] }).claims[0]);
  };
  const complete = async (number: number, { itemId, fence }: Claimed, rest: object): Promise<object> => {
    const input = { ...who(number), itemId, trigger: "complete", fence, ...rest };
    const output = (await call("advance_item", input)) as { summary: { succeeded: number } };
    if (output.summary.succeeded !== 1) throw new Error(`not completed: ${JSON.stringify(output)}`);
    return output;
  };
  const held = new Map<number, Claimed>();
  return {
    name: options.name ?? "muster engine",
    cycle: options.claimNext
      ? "advance_item (complete) with claimNext (selector, start)"
      : "claim_item (selector, start), then advance_item (complete)",
    async prepare(rows) {
      held.clear();
      await plantQueue(opened.db, rows);
    },
    async run(number) {
      if (options.claimNext !== true) {
        const claimed = await claim(number);
        await complete(number, claimed, {});
        return claimed.itemId;
      }
      const claimed = held.get(number) ?? (await claim(number));
      held.delete(number);
      const claimNext = { selector, start: true };
      const output = await complete(number, claimed, { claimNext });
      held.set(number, claimedOf((output as { next?: Claimed }).next));
      return claimed.itemId;
    },
    async close() {
      await muster.close();
      await coordination.close();
      await opened.close();
    },
  };
}

interface Claimed {
  readonly outcome: string;
  readonly itemId: string;
  readonly fence: number;
}

function claimedOf(result: Claimed | undefined): Claimed {
  if (result?.outcome !== "success") throw new Error(`not claimed: ${JSON.stringify(result)}`);
  return result;
}

function caller(): Caller {
  return {
    access: FULL_ACCESS,
    credential: null,
    session: null,
    client: null,
    requestId: "bench",
    signal: NEVER,
  };
}

const NEVER = new AbortController().signal;
