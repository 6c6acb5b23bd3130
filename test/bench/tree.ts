/** How long one `create_work_tree` of as many items as it takes is under way, on Postgres. */
import { randomUUID } from "node:crypto";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import { createBenchEngine } from "./bench-engine.ts";
import { cpuSeconds } from "./cpu.ts";
import { median } from "./measure.ts";

const CHILDREN = 999;
const PLAN = "What is to be done, in a few words: read the module, change it, and show that it holds.";

export interface TreeCost {
  readonly seconds: number;
  /** Of the engine's process and the database's backends together. */
  readonly cpuSeconds: number;
}

/**
 * Medians of `rounds` trees: a root, then groups of ten, each item ordered behind the one before it in its
 * group; with a note on each item, if so asked.
 */
export async function treeCost(url: string, rounds: number, withNotes: boolean): Promise<TreeCost> {
  const opened = await openDatabase({ url, poolSize: 8 });
  await migrate(opened.db);
  const coordination = createLocalCoordination();
  const muster = createBenchEngine(opened, coordination);
  try {
    const seconds: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const input = tree(withNotes);
      const cpuBefore = await cpuSeconds(opened.db);
      const from = performance.now();
      await muster.call("create_work_tree", input);
      seconds.push((performance.now() - from) / 1_000);
      cpu.push((await cpuSeconds(opened.db)) - cpuBefore);
    }
    return { seconds: median(seconds), cpuSeconds: median(cpu) };
  } finally {
    await muster.close();
    await coordination.close();
    await opened.close();
  }
}

function tree(withNotes: boolean): object {
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
    ...(withNotes
      ? { notes: children.map(({ ref }) => ({ itemRef: ref, key: "plan", role: "queue", body: PLAN })) }
      : {}),
  };
}
