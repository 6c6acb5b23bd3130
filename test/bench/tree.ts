/** How long one `create_work_tree` of as many items as it takes is under way, on Postgres. */
import { randomUUID } from "node:crypto";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import { createBenchEngine } from "./bench-engine.ts";
import { median } from "./measure.ts";

const CHILDREN = 999;
/** The median of `rounds` trees: a root, then groups of ten, each item ordered behind the one before it in its group. */
export async function treeSeconds(url: string, rounds: number): Promise<number> {
  const opened = await openDatabase({ url, poolSize: 8 });
  await migrate(opened.db);
  const coordination = createLocalCoordination();
  const muster = createBenchEngine(opened, coordination);
  try {
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const input = tree();
      const from = performance.now();
      await muster.call("create_work_tree", input);
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
