/**
 * The first trip of a flush that claims: keys, holders, choice and locks, in the order that
 * all of Muster locks in, sent together. What a later statement needs of an earlier one it
 * finds in the transaction itself (`muster_picked`, `muster_held`); so a claim waits for two
 * trips, this one and the one that writes.
 *
 * That works for callers who share one selection and are offered what everybody is offered.
 * Whoever is left with nothing although there may be something, or is offered more than
 * others, is chosen for in a second look, and everything is locked once more.
 */
import { findClaimedHeads, type Head } from "../../../db/stores/claimed-head-store.ts";
import { openClaims, type OpenedClaims } from "../../../db/stores/holder-store.ts";
import { type IdempotencyRecord, keyText } from "../../../db/stores/idempotency-store.ts";
import { chooseAhead, hasSecondStep } from "../../../db/stores/next-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import type { Moving } from "../leases/leases-ahead.ts";
import { lockPart, type Wider } from "../writing/transact.ts";
import type { ClaimCall } from "./claim-call.ts";
import { candidatesOf, groupCalls, pickItems } from "./pick-items.ts";

export interface FlushToOpen {
  readonly claims: readonly ClaimCall[];
  /** Every key of the flush, of its claims and of what else it does. */
  readonly records: readonly IdempotencyRecord[];
  /** Items that something else in the flush may close or open. */
  readonly closing: readonly string[];
  /** Wait for holders that are busy, as one does who is alone. */
  readonly alone: boolean;
  /** How long this transaction waits for a lock, if not the connection's own time. */
  readonly lockTimeoutMs: number | undefined;
  readonly wider: Wider;
}

export interface OpenedFlush {
  readonly taken: OpenedClaims["taken"];
  readonly held: OpenedClaims["held"];
  readonly particular: OpenedClaims["particular"];
  readonly drained: OpenedClaims["drained"];
  readonly breakers: OpenedClaims["breakers"];
  /** The item of each claim that got one. */
  readonly picked: ReadonlyMap<ClaimCall, string>;
  readonly world: World;
  readonly heads: ReadonlyMap<string, Head>;
}

export async function openFlush(deps: EngineDeps, tx: Handle, flush: FlushToOpen): Promise<OpenedFlush> {
  const { claims, closing, wider } = flush;
  const named = claims.flatMap(({ target }) => (target.kind === "item" ? [target.itemId] : []));
  const groups = groupCalls(claims, new Set());
  const [group] = groups;
  const sole = groups.length === 1 ? group : undefined;
  const opening = open(deps, tx, flush);
  const choosing = sole === undefined ? null : chooseAhead(tx, candidatesOf(sole, sole.calls.length));
  const [opened, chosen, world, known] = await Promise.all([
    opening,
    choosing,
    lockPart(
      deps,
      tx,
      wider,
      { closing: [...closing, ...named], ahead: mode(claims), counted: true },
      moving(flush),
    ),
    findClaimedHeads(tx, named),
  ]);
  const picked = new Map<ClaimCall, string>();
  for (const call of claims) if (call.target.kind === "item") picked.set(call, call.target.itemId);
  const free = [...(chosen?.ids ?? [])];
  for (const call of sole?.calls ?? []) {
    const isApart = opened.particular.has(call.agent) || opened.drained.has(call.agent);
    const id = isApart ? undefined : free.shift();
    if (id !== undefined) picked.set(call, id);
  }
  const isFresh = ({ record }: ClaimCall): boolean => record === null || opened.taken.has(keyText(record));
  const again = claims.filter(
    (call) => !picked.has(call) && !opened.drained.has(call.agent) && isFresh(call),
  );
  const { taken, held, particular, drained, breakers } = opened;
  const heads = new Map([...known, ...(chosen?.heads ?? [])]);
  const first = { taken, held, particular, drained, breakers, picked, world, heads };
  const exhausted =
    sole !== undefined && choosing !== null && !hasSecondStep(candidatesOf(sole, sole.calls.length));
  if (exhausted && !again.some((call) => particular.has(call.agent))) return first;
  return again.length === 0 ? first : await lookAgain(deps, tx, flush, first, again);
}

async function open(deps: EngineDeps, tx: Handle, flush: FlushToOpen): Promise<OpenedClaims> {
  const opened = await openClaims(tx, {
    records: flush.records,
    lockTimeoutMs: flush.lockTimeoutMs,
    holders: flush.claims,
    wait: flush.alone,
    identity: deps.settings.identity,
  });
  if (opened.busy.length > 0) {
    throw fault("db_error", "another claim of the same holder is under way", { retryAfterMs: 50 });
  }
  return opened;
}

const mode = (claims: readonly ClaimCall[]): "start" | "hold" =>
  claims.some((call) => call.start) ? "start" : "hold";

/** What is chosen is known only when it is locked, so everything that is locked may move. */
function moving({ claims, closing }: Pick<FlushToOpen, "claims" | "closing">): Moving {
  return { items: null, enters: closing.length > 0 || claims.some((call) => call.start) };
}

/** Work that nobody holds is claimed with the resources that it needs, so its schema is asked. */
function goesOnWithWork({ target }: ClaimCall): boolean {
  return target.kind === "selector" && target.predicate.roles.includes("work");
}

/** Chooses step by step for those who got nothing, and locks all of it together. */
async function lookAgain(
  deps: EngineDeps,
  tx: Handle,
  flush: FlushToOpen,
  first: OpenedFlush,
  again: readonly ClaimCall[],
): Promise<OpenedFlush> {
  const found = await pickItems(tx, again, first.particular, new Set(first.picked.values()));
  if (found.size === 0) return first;
  return await lockPicked(deps, tx, flush, { ...first, picked: new Map([...first.picked, ...found]) });
}

/** Locks everything of a flush whose items are known by now. */
export async function lockPicked(
  deps: EngineDeps,
  tx: Handle,
  flush: Pick<FlushToOpen, "claims" | "closing" | "wider">,
  opened: OpenedFlush,
): Promise<OpenedFlush> {
  const { picked, held } = opened;
  const named = flush.claims.flatMap(({ target }) => (target.kind === "item" ? [target.itemId] : []));
  const closing = [...new Set([...flush.closing, ...named, ...held.map((one) => one.itemId)])];
  const chosen = [...new Set(picked.values())].filter((id) => !closing.includes(id));
  const judged = mode(flush.claims) === "start" || flush.claims.some(goesOnWithWork);
  const part = judged ? { starting: chosen } : { alone: chosen };
  const [world, heads] = await Promise.all([
    lockPart(deps, tx, flush.wider, { closing, ...part, counted: true }, moving(flush)),
    findClaimedHeads(tx, [...new Set(picked.values())]),
  ]);
  return { ...opened, world, heads };
}
