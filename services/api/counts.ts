/** The numbers of the status page, asked of the engine as any caller would. */
import { FULL_ACCESS } from "../engine/access.ts";
import { randomUUID } from "node:crypto";
import { parseInput } from "../contract/parse.ts";
import { operationByName } from "../contract/registry.ts";
import type { Caller, Engine } from "../engine/engine.ts";

/** How many items there are, how many could be claimed now, how many are held, and how old the last sweep is. */
export async function countsOf(engine: Engine): Promise<Readonly<Record<string, number>>> {
  const [items, ready, claimed, sweepAgeMs] = await Promise.all([
    totalOf(engine, "query_items", { operation: "search", limit: 1 }),
    totalOf(engine, "query_items", { operation: "search", readiness: "ready", limit: 1 }),
    totalOf(engine, "list_claims", { limit: 1 }),
    engine.sweepAgeMs(),
  ]);
  return {
    items,
    ready,
    claimed,
    ...(sweepAgeMs === null ? {} : { "seconds since the last sweep": Math.round(sweepAgeMs / 1000) }),
  };
}

async function totalOf(engine: Engine, name: string, raw: object): Promise<number> {
  const operation = operationByName.get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  const { total } = await engine.execute(name, parseInput(operation, raw), nobody());
  return Number(total);
}

function nobody(): Caller {
  return {
    access: FULL_ACCESS,
    credential: null,
    session: null,
    client: null,
    requestId: randomUUID(),
    signal: AbortSignal.timeout(2_000),
  };
}
