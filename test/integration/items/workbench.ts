/** The write use cases over a database of the test's own, called the way both doors call them: through the contract. */
import { FULL_ACCESS } from "../../../services/engine/access.ts";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { OpenDatabase } from "../../../db/open.ts";
import { manageDependencies as dependenciesOperation } from "../../../services/contract/operations/manage-dependencies.ts";
import { manageItems as itemsOperation } from "../../../services/contract/operations/manage-items.ts";
import type {
  CreateDependenciesOutput,
  DeleteDependenciesOutput,
} from "../../../services/contract/operations/manage-dependencies.ts";
import type {
  CreateItemsOutput,
  DeleteItemsOutput,
  RestoreItemsOutput,
  UpdateItemsOutput,
} from "../../../services/contract/operations/manage-items.ts";
import { advanceItem as advanceOperation } from "../../../services/contract/operations/advance-item.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import { createLocalCoordination } from "../../../services/coordination/local/local-coordination.ts";
import { endTenure, grant } from "../../../services/core/tenure.ts";
import { NOBODY } from "../../../services/core/world.ts";
import { advanceItem, createTransitionLane } from "../../../services/engine/advance/advance-item.ts";
import { UNVERIFIED } from "../../../services/engine/actors/actor-rules.ts";
import { createDatabaseTime } from "../../../services/engine/database-time.ts";
import { manageDependencies } from "../../../services/engine/dependencies/manage-dependencies.ts";
import { createSchemaSource } from "../../../services/engine/config/schema-source.ts";
import { DEFAULT_SETTINGS, defaultPolicies, type EngineDeps } from "../../../services/engine/deps.ts";
import type { Caller } from "../../../services/engine/engine.ts";
import { manageItems } from "../../../services/engine/items/manage-items.ts";
import { afterCommit, lockWorld, saveWorld, transact } from "../../../services/engine/writing/transact.ts";

type Raw = Readonly<Record<string, unknown>>;

const CALLER: Caller = {
  access: FULL_ACCESS,
  credential: null,
  session: null,
  client: null,
  requestId: "test",
  signal: new AbortController().signal,
};

export interface Holding {
  readonly agent: string;
  readonly session: string;
}

/** One replica: its own pool, its own memory. */
export class Workbench {
  readonly deps: EngineDeps;
  readonly #lane;

  constructor({ db }: OpenDatabase) {
    this.deps = {
      db,
      coordination: createLocalCoordination(),
      time: createDatabaseTime(db, 0, 60_000),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      settings: DEFAULT_SETTINGS,
      policyOf: defaultPolicies,
      actors: UNVERIFIED,
      schemas: createSchemaSource({ log: { warn: () => {} } }),
      random: () => 0,
    };
    this.#lane = createTransitionLane(this.deps);
  }

  async #items(input: Raw): Promise<unknown> {
    return await manageItems(this.deps, parseInput(itemsOperation, input), CALLER);
  }

  async createItems(items: readonly Raw[], more: Raw = {}): Promise<CreateItemsOutput> {
    return (await this.#items({ operation: "create", items, ...more })) as CreateItemsOutput;
  }

  async updateItems(items: readonly Raw[], more: Raw = {}): Promise<UpdateItemsOutput> {
    return (await this.#items({ operation: "update", items, ...more })) as UpdateItemsOutput;
  }

  async deleteItems(itemIds: readonly string[], more: Raw = {}): Promise<DeleteItemsOutput> {
    return (await this.#items({ operation: "delete", itemIds, ...more })) as DeleteItemsOutput;
  }

  async restoreItems(more: Raw): Promise<RestoreItemsOutput> {
    return (await this.#items({ operation: "restore", ...more })) as RestoreItemsOutput;
  }

  async draw(dependencies: readonly Raw[], more: Raw = {}): Promise<CreateDependenciesOutput> {
    return await this.drawPattern({ dependencies, ...more });
  }

  async drawPattern(more: Raw): Promise<CreateDependenciesOutput> {
    const input = parseInput(dependenciesOperation, { operation: "create", ...more });
    return (await manageDependencies(this.deps, input, CALLER)) as CreateDependenciesOutput;
  }

  async erase(more: Raw): Promise<DeleteDependenciesOutput> {
    const input = parseInput(dependenciesOperation, { operation: "delete", ...more });
    return (await manageDependencies(this.deps, input, CALLER)) as DeleteDependenciesOutput;
  }

  /** Makes one item and answers its id. */
  async item(title: string, more: Raw = {}): Promise<string> {
    const { items, failures } = await this.createItems([{ title, ...more }]);
    const [made] = items;
    if (!made) throw new Error(`not created: ${JSON.stringify(failures)}`);
    return made.id;
  }

  async advance(itemId: string, trigger: string, more: Raw = {}): Promise<Record<string, unknown>> {
    const input = parseInput(advanceOperation, { transitions: [{ itemId, trigger, ...more }] });
    const noNext = (): never => {
      throw new Error("no test here claims the next item");
    };
    const output = await advanceItem(this.deps, this.#lane, noNext, input, CALLER);
    return (output["results"] as Record<string, unknown>[])[0] ?? {};
  }

  /** Gives the item to a holder as a claim does, and answers the fence. */
  async claim(itemId: string, holder: Holding, ttlMs = 900_000): Promise<number> {
    const world = await transact(this.deps, async (tx, wider) => {
      const locked = await lockWorld(this.deps, tx, [itemId], wider);
      grant(locked, itemId, { ...holder, parentAgent: null, ttlMs });
      await saveWorld(tx, locked);
      return locked;
    });
    afterCommit(this.deps, world);
    return world.get(itemId).fence;
  }

  /** Ends a claim as a takeover does. */
  async expire(itemId: string): Promise<void> {
    const world = await transact(this.deps, async (tx, wider) => {
      const locked = await lockWorld(this.deps, tx, [itemId], wider);
      endTenure(locked, itemId, { reason: "expired", requeue: true, detail: null, by: NOBODY });
      await saveWorld(tx, locked);
      return locked;
    });
    afterCommit(this.deps, world);
  }

  async state(id: string): Promise<StateView> {
    const row = await this.deps.db
      .selectFrom("item_state")
      .select([
        "role",
        "outcome",
        "blockers",
        "ancestor_blockers",
        "open_children",
        "done_children",
        "fence",
        "agent",
      ])
      .where("item_id", "=", id)
      .executeTakeFirstOrThrow();
    return row;
  }

  async content(id: string): Promise<Record<string, unknown>> {
    return await this.deps.db.selectFrom("items").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  }

  async exists(id: string): Promise<boolean> {
    const row = await this.deps.db.selectFrom("items").select("id").where("id", "=", id).executeTakeFirst();
    return row !== undefined;
  }

  async edges(): Promise<{ from: string; to: string; type: string }[]> {
    const rows = await this.deps.db
      .selectFrom("dependencies")
      .select(["from_item", "to_item", "type"])
      .execute();
    return rows.map((row) => ({ from: row.from_item, to: row.to_item, type: row.type }));
  }

  /**
   * What stands in the counters and copies, against what the rows say. Empty when they
   * agree: every test that changes the graph may ask.
   */
  async drift(): Promise<unknown[]> {
    const { rows } = await sql`
      with edge as (
        select d.to_item, not (case
            when f.role = 'terminal' and f.outcome = 'cancelled' then coalesce(d.on_cancelled, 'hold') = 'release'
            else f.role <> 'blocked'
              and array_position(array['queue','work','review','terminal'], f.role)
                >= array_position(array['queue','work','review','terminal'], coalesce(d.unblock_at, 'terminal'))
          end) as holds
        from dependencies d join item_state f on f.item_id = d.from_item where d.type = 'BLOCKS'
      ), truth as (
        select i.id,
          (select count(*) from edge e where e.to_item = i.id and e.holds)::int as blockers,
          (select count(*) from unnest(i.ancestors) a
            where exists (select 1 from edge e where e.to_item = a and e.holds))::int as ancestor_blockers,
          (select count(*) from item_state c where c.parent_id = i.id and c.role <> 'terminal')::int as open_children,
          (select count(*) from item_state c where c.parent_id = i.id and c.outcome = 'done')::int as done_children,
          coalesce((select p.ancestors || p.id from items p where p.id = i.parent_id), '{}') as ancestors
        from items i
      )
      select i.title, to_jsonb(s) as state, to_jsonb(t) as truth
      from items i join item_state s on s.item_id = i.id join truth t on t.id = i.id
      where (s.blockers, s.ancestor_blockers, s.open_children, s.done_children)
          is distinct from (t.blockers, t.ancestor_blockers, t.open_children, t.done_children)
        or i.ancestors <> t.ancestors or s.ancestors <> i.ancestors or s.root_id <> i.root_id
        or i.root_id <> coalesce(i.ancestors[1], i.id) or s.parent_id is distinct from i.parent_id
        or s.rank <> muster_rank(i.priority, i.complexity) or s.priority <> i.priority or s.tags <> i.tags
        or s.needs <> i.needs or s.assignee is distinct from i.assignee or s.type is distinct from i.type`.execute(
      this.deps.db,
    );
    return rows;
  }
}

export interface StateView {
  readonly role: string;
  readonly outcome: string | null;
  readonly blockers: number;
  readonly ancestor_blockers: number;
  readonly open_children: number;
  readonly done_children: number;
  readonly fence: number;
  readonly agent: string | null;
}

export const key = (): string => randomUUID();

export const actor = (id: string): { id: string; kind: string } => ({ id, kind: "subagent" });
