/** One random thing that a fleet may do, drawn from a seeded generator so that a bad history can be played again. */
import { randomUUID } from "node:crypto";
import { isMusterError } from "../../../services/contract/errors.ts";
import { TRIGGERS } from "../../../services/core/roles.ts";
import type { TestDatabase } from "../../support/database.ts";
import { type TestEngine, worker } from "../../support/engine.ts";

const AGENTS = ["ann", "bob", "cleo", "dan"] as const;
const CONFIGS = [
  "work_item_schemas:\n  default:\n    notes: []\n",
  "work_item_schemas:\n  feature:\n    lifecycle: manual\n    notes:\n      - key: plan\n        role: queue\n        required: true\n",
  "work_item_schemas:\n  default:\n    notes:\n      - key: check\n        role: review\n        required: false\n      - key: done-when\n        role: work\n        required: true\n",
  "work_item_schemas:\n  task:\n    lifecycle: permanent\n    notes:\n      - key: plan\n        role: queue\n        required: true\n",
];
const ITEMS_MAX = 160;
/** Longer than a ttl and its grace. */
const LAPSE_MS = 200_000;

export class History {
  readonly #engine: TestEngine;
  readonly #database: TestDatabase;
  readonly #random: () => number;
  readonly #trash: string[] = [];
  #created = 0;
  /** How often each step was done and refused, so that a history of refusals does not pass for one. */
  readonly tally = new Map<string, { done: number; refused: number }>();

  constructor(engine: TestEngine, database: TestDatabase, random: () => number) {
    this.#engine = engine;
    this.#database = database;
    this.#random = random;
  }

  async step(): Promise<void> {
    const some = await this.#database.db.selectFrom("items").select("id").limit(1).execute();
    const name = some.length === 0 ? "create" : this.#pick(STEPS);
    const entry = this.tally.get(name) ?? { done: 0, refused: 0 };
    this.tally.set(name, entry);
    if (await this.#run(name)) entry.done += 1;
    else entry.refused += 1;
  }

  /** False if it was refused, which must be for a reason that has a name. */
  async #run(name: (typeof STEPS)[number]): Promise<boolean> {
    try {
      return await this[name]();
    } catch (error) {
      if (isMusterError(error) && error.code !== "INTERNAL_ERROR") return false;
      throw error;
    }
  }

  #pick<T>(from: readonly T[]): T {
    const one = from[Math.floor(this.#random() * from.length)];
    if (one === undefined) throw new Error("nothing to pick from");
    return one;
  }

  async #call(
    name: string,
    input: object,
    agent: string | null = this.#pick(AGENTS),
  ): Promise<Record<string, unknown>> {
    const by = agent === null ? {} : { actor: worker(agent), workerId: `${agent}-1` };
    return (await this.#engine.call(name, { ...by, requestId: randomUUID(), ...input })) as Record<
      string,
      unknown
    >;
  }

  async #anyItem(): Promise<{ id: string; agent: string | null; fence: number; root: string }> {
    const rows = await this.#database.db
      .selectFrom("item_state")
      .innerJoin("items", "items.id", "item_state.item_id")
      .select([
        "item_state.item_id as id",
        "item_state.agent",
        "item_state.fence",
        "item_state.root_id as root",
      ])
      // Ids are drawn anew each time; titles are counted, so that a seed plays the same history.
      .orderBy("items.title")
      .execute();
    return this.#pick(rows);
  }

  async create(): Promise<boolean> {
    const { count } = await this.#database.db
      .selectFrom("items")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    if (count >= ITEMS_MAX) return await this.remove();
    const parent = count === 0 || this.#random() < 0.1 ? {} : { parentId: (await this.#anyItem()).id };
    const item = {
      title: `item ${String((this.#created += 1)).padStart(6, "0")}`,
      priority: this.#pick(["high", "medium", "low"]),
      ...(this.#random() < 0.5 ? { type: this.#pick(["feature", "task"]) } : {}),
      ...(this.#random() < 0.5 ? { tags: this.#pick(["red", "green", "red,green"]) } : {}),
      ...parent,
    };
    const output = await this.#call("manage_items", { operation: "create", items: [item] });
    return output["created"] === 1;
  }

  async edit(): Promise<boolean> {
    const { id } = await this.#anyItem();
    const change = this.#pick([
      { priority: "high" },
      { priority: "low" },
      { type: null },
      { type: "task" },
      { tags: "green" },
      { traits: "careful" },
    ]);
    const output = await this.#call("manage_items", {
      operation: "update",
      items: [{ itemId: id, ...change }],
    });
    return output["updated"] === 1;
  }

  async move(): Promise<boolean> {
    const [one, two] = [await this.#anyItem(), await this.#anyItem()];
    const parentId = this.#random() < 0.1 ? null : two.id;
    const output = await this.#call("manage_items", {
      operation: "update",
      items: [{ itemId: one.id, parentId }],
    });
    return output["updated"] === 1;
  }

  async remove(): Promise<boolean> {
    const { id, agent, fence } = await this.#anyItem();
    const output = await this.#call(
      "manage_items",
      {
        operation: "delete",
        itemIds: [id],
        recursive: this.#random() < 0.3,
        ...(agent === null ? {} : { fence }),
      },
      agent ?? "ann",
    );
    for (const { trashId } of (output["trash"] ?? []) as { trashId: string }[]) this.#trash.push(trashId);
    return Number(output["deleted"]) > 0;
  }

  async restore(): Promise<boolean> {
    if (this.#trash.length === 0) return false;
    const trashId = this.#pick(this.#trash);
    const output = await this.#call("manage_items", { operation: "restore", trashIds: [trashId] });
    return Number(output["restored"]) > 0;
  }

  async draw(): Promise<boolean> {
    const [from, to] = [await this.#anyItem(), await this.#anyItem()];
    const edge = {
      fromItemId: from.id,
      toItemId: to.id,
      unblockAt: this.#pick(["work", "review", "terminal"]),
      onCancelled: this.#pick(["hold", "release"]),
    };
    const output = await this.#call("manage_dependencies", { operation: "create", dependencies: [edge] });
    return output["created"] === 1;
  }

  async erase(): Promise<boolean> {
    const edges = await this.#database.db
      .selectFrom("dependencies")
      .innerJoin("items as from", "from.id", "dependencies.from_item")
      .innerJoin("items as to", "to.id", "dependencies.to_item")
      .select("dependencies.id")
      .orderBy("from.title")
      .orderBy("to.title")
      .execute();
    if (edges.length === 0) return false;
    const output = await this.#call("manage_dependencies", {
      operation: "delete",
      dependencyId: this.#pick(edges).id,
    });
    return Number(output["deleted"]) > 0;
  }

  async claim(): Promise<boolean> {
    const start = this.#random() < 0.6;
    const target =
      this.#random() < 0.7
        ? { selector: this.#random() < 0.5 ? {} : { tags: this.#pick(["red", "green"]) } }
        : { itemId: (await this.#anyItem()).id };
    const output = await this.#call("claim_item", { claims: [{ ...target, start, ttlSeconds: 60 }] });
    return (output["claims"] as { outcome: string }[])[0]?.outcome === "success";
  }

  async release(): Promise<boolean> {
    const { id, agent, fence } = await this.#anyItem();
    const entry = { itemId: id, requeue: this.#random() < 0.5, ...(agent === null ? {} : { fence }) };
    const output = await this.#call("claim_item", { releases: [entry] }, agent ?? "ann");
    return (output["releases"] as { outcome: string }[])[0]?.outcome === "success";
  }

  async advance(): Promise<boolean> {
    const { id, agent, fence } = await this.#anyItem();
    const by = this.#random() < 0.9 ? agent : this.#pick(AGENTS);
    const next = by !== null && this.#random() < 0.3 ? { claimNext: { selector: {}, start: true } } : {};
    const input = {
      itemId: id,
      trigger: this.#pick(TRIGGERS),
      ...(by !== null && by === agent ? { fence } : {}),
      ...next,
    };
    const output = await this.#call("advance_item", input, by);
    return (output["summary"] as { succeeded: number }).succeeded === 1;
  }

  async note(): Promise<boolean> {
    const { id } = await this.#anyItem();
    const [key, role] = this.#pick([
      ["plan", "queue"],
      ["done-when", "work"],
      ["check", "review"],
    ] as const);
    const input =
      this.#random() < 0.7
        ? { operation: "upsert", notes: [{ itemId: id, key, role, body: "as it was done" }] }
        : { operation: "delete", itemId: id, key };
    const output = await this.#call("manage_notes", input);
    return Number(output["upserted"] ?? output["deleted"]) > 0;
  }

  async configure(): Promise<boolean> {
    const { root } = await this.#anyItem();
    await this.#call("manage_project_config", {
      operation: "push",
      rootId: root,
      configYaml: this.#pick(CONFIGS),
      force: true,
    });
    return true;
  }

  async lapse(): Promise<boolean> {
    await this.#database.advance(LAPSE_MS);
    const { freed } = await this.#engine.engine.sweep(new AbortController().signal);
    return freed > 0;
  }
}

/** Drawn evenly; what happens often in a fleet is in here more often. */
const STEPS = [
  "create",
  "create",
  "create",
  "edit",
  "move",
  "remove",
  "restore",
  "draw",
  "draw",
  "erase",
  "claim",
  "claim",
  "claim",
  "claim",
  "release",
  "advance",
  "advance",
  "advance",
  "advance",
  "advance",
  "advance",
  "advance",
  "note",
  "note",
  "note",
  "configure",
  "lapse",
] as const satisfies readonly (keyof History)[];
