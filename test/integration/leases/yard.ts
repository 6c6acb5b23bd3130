/**
 * Items that need resources, and the calls of those who work on them. A trait is the name of
 * a resource, `db`, or `gpu-2` for one that two may share, `docs-a` for an advisory one.
 */
import { EMPTY_LAYER } from "../../../services/core/schemas/config-layer.ts";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import type { ListLeasesOutput } from "../../../services/contract/operations/list-leases.ts";
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
  layersOf: () => Promise.resolve({ root: null, global: EMPTY_LAYER }),
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

/** What became of one element of a call, as far as tests read it. */
export interface Told {
  readonly itemId: string;
  readonly applied?: boolean;
  readonly outcome?: string;
  readonly errorCode?: string;
  readonly error?: string;
  readonly retryAfterMs: number;
  readonly fence: number;
  readonly claimExpiresAt: string;
  readonly warnings?: readonly string[];
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
  const made = (await engine.call("manage_items", {
    operation: "create",
    items: [{ ...item, ...extra, ...(traits === "" ? {} : { traits }) }],
  })) as { items: { id: string }[] };
  const [created] = made.items;
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
): Promise<Told> {
  const by = who === null ? {} : { actor: worker(who.id), workerId: who.workerId };
  const call = { ...by, transitions: [{ itemId, trigger, ...extra }] };
  const output = (await yard.engine.call("advance_item", call)) as { results: Told[] };
  return only(output.results);
}

/** The result of one claim, whatever it is. */
export async function claim(yard: Calls, who: Who, entry: object): Promise<Told> {
  return only((await claimCall(yard, who, { claims: [{ ttlSeconds: 60, ...entry }] })).claims);
}

/** The result of one heartbeat or of one release. */
export async function keep(yard: Calls, who: Who, lists: object): Promise<Told> {
  const { refreshes, releases } = await claimCall(yard, who, lists);
  return only([...refreshes, ...releases]);
}

type Lists = Readonly<Record<"claims" | "refreshes" | "releases", Told[]>>;

async function claimCall({ engine }: Calls, who: Who, lists: object): Promise<Lists> {
  const call = { actor: worker(who.id), workerId: who.workerId, requestId: randomUUID(), ...lists };
  return (await engine.call("claim_item", call)) as Lists;
}

function only(results: readonly Told[]): Told {
  const [result] = results;
  if (result === undefined) throw new Error("nothing was answered");
  return result;
}

/** Items with a lease on the key that lives. */
export async function having({ engine }: Calls, key: string): Promise<string[]> {
  const { leases } = (await engine.call("list_leases", { key })) as ListLeasesOutput;
  return leases.map((lease) => lease.holderItemId);
}

/** Oldest first. */
export async function history({ engine }: Calls, key: string): Promise<ListLeaseHistoryOutput["intervals"]> {
  const { intervals } = (await engine.call("list_lease_history", { key })) as ListLeaseHistoryOutput;
  return intervals.toReversed();
}
