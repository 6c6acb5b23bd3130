/**
 * `replay_dead` and `discard_dead`: a person decides what becomes of items whose attempts are
 * used up. Both are transitions of an operator, judged and applied like any other.
 */
import { recordAudit } from "../../../db/stores/audit-store.ts";
import { findDead } from "../../../db/stores/dead-read-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { SettleDeadInput, SettleDeadOutput } from "../../contract/operations/settle-dead.ts";
import { decideAdvance } from "../../core/advance.ts";
import type { Role } from "../../core/roles.ts";
import type { World } from "../../core/world.ts";
import { refusalElement } from "../advance/refusal.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { scopeFilter } from "../scope/scope-filter.ts";
import { afterCommit, lockPart, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { type Answered, describeCall, once, type WriteCall, writerOf } from "../writing/write-call.ts";
import { doToChosen } from "./chosen.ts";

/** How each of the two moves an item. */
const WAYS = {
  replay_dead: { trigger: "resume", action: "item.replayed" },
  discard_dead: { trigger: "cancel", action: "item.discarded" },
} as const;

type Way = (typeof WAYS)[keyof typeof WAYS];

interface Settled extends Readonly<Record<string, unknown>> {
  readonly itemId: string;
  readonly role: Role;
}

export const replayDead = (
  deps: EngineDeps,
  input: SettleDeadInput,
  caller: Caller,
): Promise<SettleDeadOutput> => settle(deps, "replay_dead", input, caller);

export const discardDead = (
  deps: EngineDeps,
  input: SettleDeadInput,
  caller: Caller,
): Promise<SettleDeadOutput> => settle(deps, "discard_dead", input, caller);

async function settle(
  deps: EngineDeps,
  operation: keyof typeof WAYS,
  input: SettleDeadInput,
  caller: Caller,
): Promise<SettleDeadOutput> {
  refuseAgents(operation, input, caller);
  const call = describeCall(operation, input, caller);
  const { type, tags, ancestorId } = input;
  const { answers, rest } = await doToChosen(
    deps,
    call,
    input,
    async (handle, max, ids) => {
      const within = ancestorId === undefined ? undefined : await requireItem(handle, ancestorId, caller);
      return await findDead(handle, { ids, type, tags, ancestorId: within, ...scopeFilter(caller) }, max);
    },
    (itemId, element) => settleOne(deps, call, WAYS[operation], itemId, element, input.reason),
    caller,
  );
  return { items: [...answers], ...rest };
}

/** An agent that resets the count would let an item fail for ever, with nobody looking. */
function refuseAgents(operation: string, { actor }: SettleDeadInput, { access }: Caller): void {
  const isAgent = actor.kind === "subagent" || actor.kind === "orchestrator" || access.agent !== null;
  if (isAgent) throw fault("insufficient_capability", `${operation} is for people, and not for agents`);
}

async function settleOne(
  deps: EngineDeps,
  call: WriteCall,
  way: Way,
  itemId: string,
  element: string,
  reason: string,
): Promise<Answered<Settled>> {
  let world: World | null = null;
  const answered = await transact(deps, async (tx, wider) => {
    world = null;
    return await once<Settled>(call, tx, element, async () => {
      world = await move(deps, tx, wider, call, way, itemId, reason);
      return { answer: { itemId, role: world.get(itemId).role }, targetId: itemId };
    });
  });
  if (world !== null) afterCommit(deps, world);
  return answered;
}

async function move(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  call: WriteCall,
  { trigger, action }: Way,
  itemId: string,
  reason: string,
): Promise<World> {
  const moving = { items: new Set([itemId]), enters: false };
  const world = await lockPart(deps, tx, wider, { closing: [itemId] }, moving);
  const item = world.find(itemId);
  if (item === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
  if (!item.dead) throw fault("CONFLICT_ERROR", `${itemId} is not dead`, { hint: NOT_DEAD });
  const verdict = decideAdvance(
    world,
    {
      itemId,
      trigger,
      summary: reason,
      label: null,
      writer: writerOf(call),
      by: call.author,
      failure: { class: "item", reason: null },
      operator: true,
      random: deps.random(),
    },
    { now: world.now, seenDead: false, latestEnd: null, identity: deps.settings.identity },
  );
  if (verdict.kind === "refused") {
    const { code } = verdict.refusal;
    const { error } = refusalElement(itemId, trigger, verdict.refusal, [], deps.settings.onCancelled);
    throw fault(code === "strange_credential" ? "validation_failed" : code, String(error));
  }
  const data = { reason, attempts: item.attempts };
  await recordAudit(tx, [{ action, itemId, rootId: item.rootId, data }], call.author);
  await saveWorld(tx, world);
  return world;
}

const NOT_DEAD = "Nothing to do: list the dead items to see which there are.";
