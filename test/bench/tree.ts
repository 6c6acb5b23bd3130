/** How long one `create_work_tree` of as many items as it takes is under way, on Postgres. */
import { FULL_ACCESS } from "../../services/engine/access.ts";
import { randomUUID } from "node:crypto";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import { parseInput } from "../../services/contract/parse.ts";
import { operationByName } from "../../services/contract/registry.ts";
import { UNVERIFIED } from "../../services/engine/actors/actor-rules.ts";
import { createSchemaSource } from "../../services/engine/config/schema-source.ts";
import { createEngine } from "../../services/engine/create-engine.ts";
import { createDatabaseTime } from "../../services/engine/database-time.ts";
import { DEFAULT_SETTINGS, defaultPolicies } from "../../services/engine/deps.ts";
import { median } from "./measure.ts";

const CHILDREN = 999;
const QUIET = {
  info: () => {},
  warn: () => {},
  error: (data: object, text: string) => console.error(text, data),
};

/** The median of `rounds` trees: a root, then groups of ten, each item ordered behind the one before it in its group. */
export async function treeSeconds(url: string, rounds: number): Promise<number> {
  const opened = await openDatabase({ url, poolSize: 8 });
  await migrate(opened.db);
  const coordination = createLocalCoordination();
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
  const operation = operationByName.get("create_work_tree");
  if (operation === undefined) throw new Error("no operation create_work_tree");
  const signal = new AbortController().signal;
  const caller = {
    access: FULL_ACCESS,
    credential: null,
    session: null,
    client: null,
    requestId: "bench",
    signal,
  };
  try {
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const input = tree();
      const from = performance.now();
      await muster.execute("create_work_tree", parseInput(operation, input), caller);
      seconds.push((performance.now() - from) / 1_000);
    }
    return median(seconds);
  } finally {
    await muster.close();
    await coordination.close();
    await opened.close();
  }
}

function tree(): object {
  const children = Array.from({ length: CHILDREN }, (_, n) => ({
    ref: `i${n}`,
    title: `Item ${n}`,
    ...(n % 10 === 0 ? {} : { parentRef: `i${n - (n % 10)}` }),
  }));
  const deps = children.flatMap((_, n) => (n % 10 < 2 ? [] : [{ from: `i${n - 1}`, to: `i${n}` }]));
  return {
    actor: { id: "planner", kind: "orchestrator" },
    requestId: randomUUID(),
    root: { title: "Plan" },
    children,
    deps,
  };
}
