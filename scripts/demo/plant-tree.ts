/**
 * The tree of the demo: a project, its features, their tasks, and what has to come before what.
 * It is planted the way an orchestrating agent plants one: by tool calls.
 */
import type { Client } from "../../services/worker-sdk/index.ts";

type Priority = "high" | "medium" | "low";

interface Feature {
  readonly title: string;
  readonly tag: string;
  readonly priority: Priority;
  /** Titles of features that must be done first. */
  readonly after?: readonly string[];
  /** Titles of features that must at least have begun. */
  readonly onceBegun?: readonly string[];
  /** What it consists of besides its design, its tests and its page of documentation. */
  readonly parts: readonly [string, string, string];
}

const PROJECT = "Launch the online shop";

const FEATURES: readonly Feature[] = [
  {
    title: "Product catalogue",
    tag: "catalogue",
    priority: "high",
    parts: ["Store products and variants", "List products by category", "Upload product images"],
  },
  {
    title: "Customer accounts",
    tag: "accounts",
    priority: "high",
    parts: ["Sign up and sign in", "Reset a password", "Keep delivery addresses"],
  },
  {
    title: "Search",
    tag: "search",
    priority: "medium",
    onceBegun: ["Product catalogue"],
    parts: ["Index the catalogue", "Filter by price and colour", "Suggest while typing"],
  },
  {
    title: "Shopping cart",
    tag: "cart",
    priority: "high",
    after: ["Product catalogue"],
    parts: ["Add and remove products", "Reserve stock", "Keep the cart between visits"],
  },
  {
    title: "Checkout",
    tag: "checkout",
    priority: "high",
    after: ["Shopping cart", "Customer accounts"],
    parts: ["Pay by card", "Pay by invoice", "Work out shipping"],
  },
  {
    title: "Order history",
    tag: "orders",
    priority: "low",
    onceBegun: ["Checkout"],
    parts: ["Show past orders", "Return a product", "Send receipts by mail"],
  },
  {
    title: "Back office",
    tag: "office",
    priority: "medium",
    onceBegun: ["Product catalogue"],
    parts: ["Edit products", "See today's orders", "Export for accounting"],
  },
  {
    title: "Operations",
    tag: "ops",
    priority: "medium",
    parts: ["Provision the servers", "Back up the database", "Alert on errors"],
  },
  {
    title: "Launch",
    tag: "launch",
    priority: "low",
    after: ["Operations"],
    onceBegun: ["Checkout"],
    parts: ["Load test the shop", "Write the announcement", "Train the support team"],
  },
];

interface PlantedItem {
  readonly id: string;
  readonly title: string;
}

export interface PlantedTree {
  readonly root: PlantedItem;
  readonly features: readonly PlantedItem[];
  readonly tasks: readonly PlantedItem[];
  readonly edges: number;
}

interface Edge {
  readonly fromItemId: string;
  readonly toItemId: string;
  readonly unblockAt?: "work";
}

interface Task {
  readonly title: string;
  readonly parentId: string;
  readonly priority: Priority;
  readonly complexity: number;
  readonly tags: string;
}

/** Plants it, and returns what was planted. */
export async function plantTree(client: Client): Promise<PlantedTree> {
  const [root] = await create(client, [{ title: PROJECT, priority: "high", tags: "project" }]);
  if (root === undefined) throw new Error("The project was not planted.");
  const features = await create(
    client,
    FEATURES.map(({ title, priority, tag }) => ({ title, priority, tags: tag, parentId: root.id })),
  );
  const idOf = new Map(features.map(({ id, title }) => [title, id]));
  const tasks = await create(
    client,
    FEATURES.flatMap((feature) => tasksOf(feature, lookUp(idOf, feature.title))),
  );
  const perFeature = tasks.length / features.length;
  const edges = FEATURES.flatMap((feature, index) => [
    ...edgesBetween(feature, idOf),
    ...edgesWithin(tasks.slice(index * perFeature, (index + 1) * perFeature).map(({ id }) => id)),
  ]);
  await client.call("manage_dependencies", { operation: "create", dependencies: edges });
  return { root, features, tasks, edges: edges.length };
}

async function create(client: Client, items: readonly object[]): Promise<readonly PlantedItem[]> {
  const answer = await client.call("manage_items", { operation: "create", items: items as Task[] });
  if (!("created" in answer) || answer.failed > 0)
    throw new Error(`The tree could not be planted: ${JSON.stringify(answer)}`);
  return answer.items.map(({ id, title }) => ({ id, title }));
}

/** Design, three parts, tests, documentation: in this order, which {@link edgesWithin} relies on. */
function tasksOf({ title, tag, priority, parts }: Feature, parentId: string): readonly Task[] {
  const task = (title: string, complexity: number, kind: string): Task => ({
    title,
    parentId,
    priority,
    complexity,
    tags: `${tag},${kind}`,
  });
  return [
    task(`Design: ${title}`, 3, "design"),
    ...parts.map((part, index) => task(part, 4 + 2 * index, "build")),
    task(`Test: ${title}`, 5, "test"),
    task(`Document: ${title}`, 2, "docs"),
  ];
}

/** The parts follow the design, the tests follow the parts; the page is begun as soon as the first part is. */
function edgesWithin(tasks: readonly string[]): readonly Edge[] {
  const [design = "", first = "", second = "", third = "", test = "", document = ""] = tasks;
  const parts = [first, second, third];
  return [
    ...parts.map((toItemId) => ({ fromItemId: design, toItemId })),
    ...parts.map((fromItemId) => ({ fromItemId, toItemId: test })),
    { fromItemId: first, toItemId: document, unblockAt: "work" },
  ];
}

function edgesBetween(feature: Feature, idOf: ReadonlyMap<string, string>): readonly Edge[] {
  const toItemId = lookUp(idOf, feature.title);
  const { after = [], onceBegun = [] } = feature;
  return [
    ...after.map((title) => ({ fromItemId: lookUp(idOf, title), toItemId })),
    ...onceBegun.map((title) => ({ fromItemId: lookUp(idOf, title), toItemId, unblockAt: "work" as const })),
  ];
}

function lookUp(idOf: ReadonlyMap<string, string>, title: string): string {
  const id = idOf.get(title);
  if (id === undefined) throw new Error(`There is no feature "${title}".`);
  return id;
}
