/**
 * `complete_tree`: every item goes through the lane of transitions, as if `advance_item` had
 * been called for it: whoever holds it is asked, dependencies from outside count, gates are
 * judged, parents follow, and all of it is audited. What this adds is the order.
 *
 * It is not atomic. Items of one round do not wait for each other, so they share flushes; a
 * round begins when the one before it is done. What is refused leaves what depends on it
 * refused as well, by the same judgement: nothing has to be kept in mind for that.
 */
import { findDependenciesAmong } from "../../../db/stores/dependency-store.ts";
import { findElements } from "../../../db/stores/request-store.ts";
import { findMembers, findTree, type TreeMemberRow } from "../../../db/stores/tree-store.ts";
import { fault, isMusterError, type MusterError } from "../../contract/errors.ts";
import { TREE_ITEMS_MAX } from "../../contract/limits.ts";
import type { CompleteTreeInput, CompleteTreeOutput } from "../../contract/operations/complete-tree.ts";
import type { AdvanceRequest } from "../../core/advance.ts";
import { roundsOf } from "../../core/cycle.ts";
import { submitTransition, type TransitionLane } from "../advance/advance-item.ts";
import type { TransitionOutcome } from "../advance/transition-call.ts";
import { asFault } from "../database-fault.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem, resolveItem } from "../resolve-items.ts";
import { openWriteCall, recordFor, type WriteCall } from "../writing/write-call.ts";
import { createCompletionReport } from "./completion-report.ts";
import type { Looker } from "../access.ts";

export async function completeTree(
  deps: EngineDeps,
  lane: TransitionLane,
  input: CompleteTreeInput,
  caller: Caller,
): Promise<CompleteTreeOutput> {
  const call = await openWriteCall(deps.db, "complete_tree", input, caller);
  const { members, unknown } = await membersOf(deps, input, caller);
  const report = createCompletionReport(deps, input.trigger, members);
  for (const [ref, error] of unknown) report.unknown(ref, error);
  const { requestId } = call;
  const done = requestId === undefined ? new Set() : await findElements(deps.db, { ...call, requestId });
  for (const round of await orderOf(deps, members)) {
    // What was committed stands; nobody waits for the rest.
    if (caller.signal.aborted) throw fault("OPERATION_FAILED", "the caller is gone");
    const open = round.filter((member) => {
      const isClosed = member.role === "terminal" && !done.has(elementOf(member.id));
      if (isClosed) report.closed(member);
      return !isClosed;
    });
    const outcomes = await Promise.all(open.map((member) => submit(deps, lane, call, input, member.id)));
    for (const [index, member] of open.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) report.add(member, outcome);
    }
  }
  return report.answer();
}

const elementOf = (id: string): string => `i${id}`;

interface Members {
  readonly members: readonly TreeMemberRow[];
  readonly unknown: readonly (readonly [ref: string, error: MusterError])[];
}

async function membersOf(deps: EngineDeps, { of }: CompleteTreeInput, caller: Looker): Promise<Members> {
  if ("itemIds" in of) return await listedMembers(deps, of.itemIds, caller);
  const rootId = await requireItem(deps.db, of.rootId, caller);
  const found = await findTree(deps.db, rootId, TREE_ITEMS_MAX + 1);
  if (found.length === 0) throw fault("RESOURCE_NOT_FOUND", `there is no item ${rootId}`);
  if (found[TREE_ITEMS_MAX] !== undefined && found[TREE_ITEMS_MAX].role !== "terminal") {
    throw fault("limit_exceeded", `${rootId} has more than ${TREE_ITEMS_MAX} open items below it`, {
      hint: "Complete the trees below it first, one call each.",
    });
  }
  const members = found.slice(0, TREE_ITEMS_MAX);
  return { members: members.filter(({ id }) => of.includeRoot || id !== rootId), unknown: [] };
}

async function listedMembers(deps: EngineDeps, refs: readonly string[], caller: Looker): Promise<Members> {
  const unknown: [string, MusterError][] = [];
  const ids = new Set<string>();
  for (const ref of new Set(refs)) {
    const resolved = await resolveItem(deps.db, ref, caller);
    if (resolved.ok) ids.add(resolved.id);
    else unknown.push([ref, resolved.error]);
  }
  const members = await findMembers(deps.db, [...ids]);
  const found = new Set(members.map(({ id }) => id));
  for (const id of ids)
    if (!found.has(id)) unknown.push([id, fault("item_not_found", `no item has the id ${id}`)]);
  return { members, unknown };
}

/** Blockers before what they block, children before their parents. */
async function orderOf(
  deps: EngineDeps,
  members: readonly TreeMemberRow[],
): Promise<readonly (readonly TreeMemberRow[])[]> {
  const byId = new Map(members.map((member) => [member.id, member]));
  const parentOf = new Map(
    members.map(({ id, ancestors }) => [id, ancestors.findLast((above) => byId.has(above)) ?? null]),
  );
  const edges = await findDependenciesAmong(deps.db, [...byId.keys()]);
  const blocking = edges.filter(({ type }) => type === "BLOCKS");
  const rounds = roundsOf({
    blocks: grouped(blocking.map(({ from_item: from, to_item: to }) => [from, to])),
    children: grouped([...parentOf].flatMap(([id, parent]) => (parent === null ? [] : [[parent, id]]))),
    parentOf,
  });
  return rounds.map((round) => round.flatMap((id) => byId.get(id) ?? []));
}

function grouped(pairs: readonly (readonly string[])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key = "", value = ""] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

async function submit(
  deps: EngineDeps,
  lane: TransitionLane,
  call: WriteCall,
  { trigger, summary }: CompleteTreeInput,
  itemId: string,
): Promise<TransitionOutcome | { readonly kind: "failed"; readonly error: MusterError }> {
  const request: AdvanceRequest = {
    itemId,
    trigger,
    summary: summary ?? null,
    label: null,
    writer: { agent: call.agent, session: call.session, fence: null },
    by: call.author,
    failure: { class: "item", reason: null },
    operator: false,
    random: deps.random(),
  };
  const record = recordFor(call, elementOf(itemId));
  try {
    return await submitTransition(deps, lane, { request, record, deadFence: null, next: null, notes: [] });
  } catch (error) {
    // A key that was used for something else makes the whole call suspect; everything else is this item's.
    if (isMusterError(error) && error.code === "idempotency_mismatch") throw error;
    if (!isMusterError(error)) deps.log.error({ err: error, itemId, trigger }, "transition failed");
    return { kind: "failed", error: asFault(error) };
  }
}
