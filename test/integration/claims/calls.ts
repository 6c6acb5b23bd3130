/** Calls of the claim path in the words of a test: who claims what, and what became of it. */
import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { expect } from "vitest";
import type { Database } from "../../../db/schema.ts";
import type { Caller } from "../../../services/engine/engine.ts";
import {
  type ClaimGranted,
  type ClaimRefused,
  type ClaimResult,
  isGranted,
} from "../../../services/contract/claiming.ts";
import type {
  ClaimItemOutput,
  RefreshResult,
  ReleaseResult,
} from "../../../services/contract/operations/claim-item.ts";
import type { CreateItemsOutput } from "../../../services/contract/operations/manage-items.ts";
import { type TestEngine, worker } from "../../support/engine.ts";

/** An agent by name, in a session of its own unless it says which. */
export interface Who {
  readonly id: string;
  readonly workerId: string;
}

export function agent(id: string, workerId = `${id}-1`): Who {
  return { id, workerId };
}

/** One whole `claim_item` call. */
export async function claimCall(
  engine: TestEngine,
  who: Who,
  call: object,
  caller?: Partial<Caller>,
): Promise<ClaimItemOutput> {
  const input = { actor: worker(who.id), workerId: who.workerId, requestId: randomUUID(), ...call };
  return (await engine.call("claim_item", input, caller)) as ClaimItemOutput;
}

/** One claim, however it ends. */
export async function claim(
  engine: TestEngine,
  who: Who,
  entry: object,
  call: object = {},
  caller?: Partial<Caller>,
): Promise<ClaimResult> {
  const [result] = (await claimCall(engine, who, { claims: [entry], ...call }, caller)).claims;
  if (result === undefined) throw new Error("the claim was not answered");
  return result;
}

/** One claim that must be given. */
export async function granted(
  engine: TestEngine,
  who: Who,
  entry: object,
  call: object = {},
): Promise<ClaimGranted> {
  const result = await claim(engine, who, entry, call);
  if (!isGranted(result)) throw new Error(`not granted: ${JSON.stringify(result)}`);
  return result;
}

/** One claim that must be refused. */
export async function refused(
  engine: TestEngine,
  who: Who,
  entry: object,
  call: object = {},
): Promise<ClaimRefused> {
  const result = await claim(engine, who, entry, call);
  if (isGranted(result)) throw new Error(`granted after all: ${JSON.stringify(result)}`);
  return result;
}

export async function release(engine: TestEngine, who: Who, entry: object): Promise<ReleaseResult> {
  const [result] = (await claimCall(engine, who, { releases: [entry] })).releases;
  if (result === undefined) throw new Error("the release was not answered");
  return result;
}

export async function refresh(engine: TestEngine, who: Who, entry: object): Promise<RefreshResult> {
  const [result] = (await claimCall(engine, who, { refreshes: [entry] })).refreshes;
  if (result === undefined) throw new Error("the heartbeat was not answered");
  return result;
}

export interface TransitionResult {
  readonly itemId: string;
  readonly applied: boolean;
  readonly newRole?: string;
  readonly fence?: number;
  readonly errorCode?: string;
  readonly replayed?: true;
  readonly [key: string]: unknown;
}

/** One transition, by a holder or by nobody in particular. */
export async function advance(
  engine: TestEngine,
  who: Who | null,
  transition: object,
  call: object = {},
): Promise<TransitionResult> {
  const input = {
    ...(who === null ? {} : { actor: worker(who.id), workerId: who.workerId }),
    transitions: [transition],
    ...call,
  };
  const { results } = (await engine.call("advance_item", input)) as { results: TransitionResult[] };
  const [result] = results;
  if (result === undefined) throw new Error("the transition was not answered");
  return result;
}

/** The item as it stands in the database. */
export async function stateOf(db: Kysely<Database>, itemId: string) {
  return await db
    .selectFrom("item_state")
    .selectAll()
    .where("item_id", "=", itemId)
    .executeTakeFirstOrThrow();
}

/** All tenures of an item, the oldest first: `agent/session: how it ended`. */
export async function tenuresOf(db: Kysely<Database>, itemId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("attempts")
    .selectAll()
    .where("item_id", "=", itemId)
    .orderBy("fence")
    .execute();
  return rows.map((row) => `${row.session}: ${row.end_reason ?? "open"}`);
}

/** Types of everything that was told about an item, in order. */
export async function eventsOf(db: Kysely<Database>, itemId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("events")
    .select("type")
    .where("item_id", "=", itemId)
    .orderBy("seq")
    .execute();
  return rows.map((row) => row.type);
}

/** Nothing in the answer may tell who else is there. */
export function expectAnonymous(answer: unknown, ...others: readonly Who[]): void {
  const text = JSON.stringify(answer);
  for (const other of others) {
    expect(text).not.toContain(other.id);
    expect(text).not.toContain(other.workerId);
  }
}

/** Creates items as an orchestrator does, which wakes whoever waits for one. Returns their ids. */
export async function create(
  engine: TestEngine,
  titles: readonly string[],
  call: object = {},
): Promise<string[]> {
  const items = titles.map((title) => ({ title }));
  const made = (await engine.call("manage_items", {
    operation: "create",
    items,
    ...call,
  })) as CreateItemsOutput;
  return made.items.map((item) => item.id);
}
