/** Muster's engine as an API process runs it: claim with start, then complete, each with its own key, fence, audit and events. */
import { randomUUID } from "node:crypto";
import { migrate } from "../../../db/migrate.ts";
import { openDatabase } from "../../../db/open.ts";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";
import { createBenchEngine } from "../bench-engine.ts";
import type { Contender } from "../contender.ts";
import { plantQueue } from "../plant-queue.ts";

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
  const muster = createBenchEngine(opened, coordination);
  const selector = options.selector ?? {};
  const who = (number: number): object => ({
    actor: { id: `${options.claimNext === true ? "n" : "w"}${number}`, kind: "subagent" },
    workerId: `slot-${number}`,
    requestId: randomUUID(),
  });
  const claim = async (number: number): Promise<Claimed> => {
    const entry = { selector, start: true };
    const output = await muster.call("claim_item", { ...who(number), claims: [entry] });
    return claimedOf((output as { claims: Claimed[] }).claims[0]);
  };
  const complete = async (number: number, { itemId, fence }: Claimed, rest: object): Promise<object> => {
    const input = { ...who(number), itemId, trigger: "complete", fence, ...rest };
    const output = (await muster.call("advance_item", input)) as { summary: { succeeded: number } };
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
