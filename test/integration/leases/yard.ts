/**
 * Items that need resources, and the calls of those who work on them. A trait is the name of
 * a resource, `db`, or `gpu-2` for one that two may share, `docs-a` for an advisory one.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import type { ListLeaseHistoryOutput } from "../../../services/contract/operations/list-lease-history.ts";
import {
  type ItemSchema,
  type ResourceSpec,
  SCHEMA_FREE,
} from "../../../services/core/schemas/item-schema.ts";
import type { SchemaSource } from "../../../services/engine/config/schema-source.ts";
import { describeEachDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import type { Who } from "../claims/calls.ts";

export const ann: Who = { id: "ann", workerId: "ann-1" };
export const bob: Who = { id: "bob", workerId: "bob-1" };
export const cat: Who = { id: "cat", workerId: "cat-1" };

/** Of an item that nobody holds. */
export const LEASE_TTL_SECONDS = 600;

export const resourceTraits: SchemaSource = {
  load: () => Promise.resolve({ of: schemaOf }),
  loadTexts: () => Promise.resolve({ of: schemaOf }),
};

function schemaOf({ traits }: { readonly traits: readonly string[] }): ItemSchema {
  return { ...SCHEMA_FREE, traits, resources: traits.map(resourceOf) };
}

function resourceOf(trait: string): ResourceSpec {
  const [, key = trait, mark] = /^(.*?)(?:-(\d+|a))?$/.exec(trait) ?? [];
  const mode = mark === undefined ? "exclusive" : mark === "a" ? "advisory" : "shared";
  return {
    key,
    mode,
    ttlSeconds: LEASE_TTL_SECONDS,
    capacity: mode === "shared" ? Number(mark) : 1,
  };
}

export interface Yard {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
}

/** Runs a suite per kind of database. */
export function describeYard(name: string, suite: (yard: () => Yard) => void): void {
  describeEachDatabase(name, (database) => {
    let engine: TestEngine | undefined;
    beforeAll(() => {
      engine = createTestEngine(database(), { schemas: resourceTraits });
    });
    afterAll(async () => engine?.close());
    suite(() => {
      if (engine === undefined) throw new Error("The engine is there inside hooks and tests only.");
      return { database: database(), engine };
    });
  });
}

type Calls = Pick<Yard, "engine">;

/** A new item that needs these resources. */
export async function make(
  { engine }: Calls,
  traits: string,
  parentId?: string,
  extra: object = {},
): Promise<string> {
  const item = { title: `needs ${traits || "nothing"}`, ...(parentId === undefined ? {} : { parentId }) };
  const made = await engine.call("manage_items", {
    operation: "create",
    items: [{ ...item, ...extra, ...(traits === "" ? {} : { traits }) }],
  });
  const [created] = made.items as { id: string }[];
  if (created === undefined) throw new Error(JSON.stringify(made));
  return created.id;
}

/** The result of one transition, whatever it is. */
export async function move(
  yard: Calls,
  who: Who | null,
  itemId: string,
  trigger: string,
  extra = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- a test that reads a wrong field fails by itself
): Promise<any> {
  const by = who === null ? {} : { actor: worker(who.id), workerId: who.workerId };
  const output = await yard.engine.call("advance_item", {
    ...by,
    transitions: [{ itemId, trigger, ...extra }],
  });
  return output.results[0];
}

/** The result of one claim, whatever it is. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test that reads a wrong field fails by itself
export async function claim(yard: Calls, who: Who, entry: object): Promise<any> {
  const output = await yard.engine.call("claim_item", {
    actor: worker(who.id),
    workerId: who.workerId,
    requestId: randomUUID(),
    claims: [{ ttlSeconds: 60, ...entry }],
  });
  return output.claims[0];
}

/** The result of one heartbeat or of one release. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test that reads a wrong field fails by itself
export async function keep(yard: Calls, who: Who, lists: object): Promise<any> {
  const output = await yard.engine.call("claim_item", {
    actor: worker(who.id),
    workerId: who.workerId,
    requestId: randomUUID(),
    ...lists,
  });
  return output.refreshes[0] ?? output.releases[0];
}

/** Items with a lease on the key that lives. */
export async function having({ engine }: Calls, key: string): Promise<string[]> {
  const { leases } = await engine.call("list_leases", { key });
  return (leases as { holderItemId: string }[]).map((lease) => lease.holderItemId);
}

/** Oldest first. */
export async function history({ engine }: Calls, key: string): Promise<ListLeaseHistoryOutput["intervals"]> {
  const { intervals } = (await engine.call("list_lease_history", { key })) as ListLeaseHistoryOutput;
  return intervals.toReversed();
}
