/** The work of the long run: features with tasks below them, and edges that keep some of it back for a while. */
import type { Client } from "../../../services/worker-sdk/index.ts";

const FEATURES = 10;
const TASKS_PER_FEATURE = 20;
const PRIORITIES = ["high", "medium", "low"] as const;
const BATCH = 100;

export interface PlantedWork {
  readonly rootId: string;
  /** The root among them. */
  readonly containers: readonly string[];
  readonly tasks: readonly string[];
}

interface Edge {
  readonly fromItemId: string;
  readonly toItemId: string;
  readonly type?: "RELATES_TO";
  readonly unblockAt?: "work";
}

export async function plantWork(client: Client): Promise<PlantedWork> {
  const [rootId = ""] = await create(client, [{ title: "A long night" }]);
  const features = await create(
    client,
    Array.from({ length: FEATURES }, (_, index) => ({ title: `feature ${index}`, parentId: rootId })),
  );
  const tasks = await create(
    client,
    features.flatMap((parentId, feature) =>
      Array.from({ length: TASKS_PER_FEATURE }, (_, index) => ({
        title: `task ${feature}.${index}`,
        parentId,
        priority: PRIORITIES[(feature + index) % PRIORITIES.length] ?? "medium",
      })),
    ),
  );
  for (const edges of inBatches([...edgesBetween(features), ...edgesAmong(tasks)]))
    await client.call("manage_dependencies", { operation: "create", dependencies: [...edges] });
  return { rootId, containers: [rootId, ...features], tasks };
}

interface NewItem {
  readonly title: string;
  readonly parentId?: string;
  readonly priority?: (typeof PRIORITIES)[number];
}

async function create(client: Client, items: readonly NewItem[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const batch of inBatches(items)) {
    const answer = await client.call("manage_items", { operation: "create", items: [...batch] });
    if (!("created" in answer) || answer.failed > 0)
      throw new Error(`not planted: ${JSON.stringify(answer)}`);
    ids.push(...answer.items.map(({ id }) => id));
  }
  return ids;
}

/** The last feature waits for the first to be done, the one before it for the second to have begun. */
function edgesBetween(features: readonly string[]): readonly Edge[] {
  const [first = "", second = ""] = features;
  const [beforeLast = "", last = ""] = features.slice(-2);
  return [
    { fromItemId: first, toItemId: last },
    { fromItemId: second, toItemId: beforeLast, unblockAt: "work" },
  ];
}

/** Each feature ends with two tasks one after the other; every task also has an edge that blocks nothing. */
function edgesAmong(tasks: readonly string[]): readonly Edge[] {
  return tasks.flatMap((toItemId, index): readonly Edge[] => {
    const fromItemId = tasks[index - 1];
    if (fromItemId === undefined || index % TASKS_PER_FEATURE === 0) return [];
    const isLast = index % TASKS_PER_FEATURE >= TASKS_PER_FEATURE - 2;
    return [isLast ? { fromItemId, toItemId } : { fromItemId, toItemId, type: "RELATES_TO" }];
  });
}

function inBatches<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, index) =>
    all.slice(index * BATCH, (index + 1) * BATCH),
  );
}
