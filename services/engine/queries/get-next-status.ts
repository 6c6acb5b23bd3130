/**
 * `get_next_status`: what a `start` would do now. The decision is the one that
 * `advance_item` takes, over the same working set, thrown away afterwards: preview and
 * mutation cannot disagree.
 */
import { findLatestEnds } from "../../../db/stores/attempt-store.ts";
import { peekWorld } from "../../../db/stores/explain-store.ts";
import { findBlockers } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { GetNextStatusInput, GetNextStatusOutput } from "../../contract/operations/get-next-status.ts";
import { type AdvanceRefusal, type AdvanceVerdict, decideAdvance } from "../../core/advance.ts";
import type { LeaseObstacle } from "../../core/leases/hold-leases.ts";
import { type Role, type Trigger, TRIGGERS } from "../../core/roles.ts";
import type { ItemState } from "../../core/state.ts";
import { NOBODY, NotLocked, type World } from "../../core/world.ts";
import type { WriterContext } from "../../core/writer.ts";
import { refusalElement } from "../advance/refusal.ts";
import { configuredAnew } from "../config/configured.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { lookAtLeases } from "../leases/contended-items.ts";
import { requireItem } from "../resolve-items.ts";
import { inSnapshot } from "./snapshot.ts";
import type { Looker } from "../access.ts";

export async function getNextStatus(
  deps: EngineDeps,
  input: GetNextStatusInput,
  caller: Caller,
): Promise<GetNextStatusOutput> {
  const agent = input.agent ?? null;
  const asker = { agent, session: agent === null ? null : (input.workerId ?? caller.session) };
  const seen = await inSnapshot(deps, (handle) => preview(deps, handle, input.itemId, asker, null, caller));
  const { start, item } = seen;
  // The claim in the way may have lapsed: the clock is asked between two readings, never inside one.
  const dead = isExpiredClaim(start) ? await deadFence(deps, item) : null;
  const { found, blockers } =
    dead === null
      ? seen
      : await inSnapshot(deps, (handle) => preview(deps, handle, input.itemId, asker, dead, caller));
  return shown(deps, found, blockers);
}

interface Asker {
  readonly agent: string | null;
  readonly session: string | null;
}

interface Found {
  readonly item: ItemState;
  readonly start: AdvanceVerdict;
  readonly triggers: readonly Trigger[];
  readonly hasReviewPhase: boolean;
}

interface Preview extends Found {
  readonly found: Found;
  readonly blockers: Awaited<ReturnType<typeof findBlockers>>;
}

async function preview(
  deps: EngineDeps,
  handle: Handle,
  ref: string,
  asker: Asker,
  deadFenceSeen: number | null,
  caller: Looker,
): Promise<Preview> {
  const itemId = await requireItem(handle, ref, caller);
  const [latestEnd = null] = await findLatestEnds(handle, [{ itemId, ...asker }]);
  const found = await decideEach(deps, handle, itemId, asker, (item, world) => ({
    now: world.now,
    seenDead: deadFenceSeen === item.fence,
    latestEnd,
    identity: deps.settings.identity,
  }));
  const blocked = found.start.kind === "refused" && found.start.refusal.code === "dependency_blocked";
  return { ...found, found, blockers: blocked ? await findBlockers(handle, [itemId]) : [] };
}

/** Wide enough for any cascade; a decision that still reaches further is a fault. */
const WIDENINGS_MAX = 80;

/** Decides every trigger, each in a world of its own, reading more rows when a decision asks for them. */
async function decideEach(
  deps: EngineDeps,
  handle: Handle,
  itemId: string,
  asker: Asker,
  contextOf: (item: ItemState, world: World) => WriterContext,
): Promise<Found> {
  const items = new Set([itemId]);
  const subtrees = new Set<string>();
  const keys = new Set<string>();
  for (let tries = 0; tries < WIDENINGS_MAX; tries += 1) {
    const open = await peekWorld(handle, {
      items: [...items],
      subtrees: [...subtrees],
      configured: (states) => configuredAnew(deps, handle, states),
      leasesOf: (states) => lookAtLeases(deps, handle, states, keys),
      onCancelled: deps.settings.onCancelled,
    });
    const item = open().find(itemId);
    if (item === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
    try {
      const verdicts = TRIGGERS.map((trigger) => {
        const world = open();
        return { trigger, verdict: decide(world, itemId, trigger, asker, contextOf(item, world)) };
      });
      const start = verdicts[0]?.verdict;
      if (start === undefined) throw new Error("start is the first of the triggers");
      return {
        item,
        start,
        hasReviewPhase: open().policyOf(item).hasReviewPhase,
        triggers: verdicts.filter(({ verdict }) => verdict.kind === "applied").map(({ trigger }) => trigger),
      };
    } catch (error) {
      if (!(error instanceof NotLocked)) throw error;
      for (const id of error.items) items.add(id);
      for (const id of error.subtrees) subtrees.add(id);
      for (const key of error.keys) keys.add(key);
    }
  }
  throw new Error("a preview never had all the rows that it needed");
}

function decide(
  world: World,
  itemId: string,
  trigger: Trigger,
  asker: Asker,
  context: WriterContext,
): AdvanceVerdict {
  return decideAdvance(
    world,
    {
      itemId,
      trigger,
      summary: null,
      label: null,
      writer: { ...asker, fence: null },
      by: NOBODY,
      failure: { class: "item", reason: null },
      operator: false,
      random: 0,
    },
    context,
  );
}

function isExpiredClaim(start: AdvanceVerdict): boolean {
  return start.kind === "refused" && start.refusal.code === "not_claim_holder" && start.refusal.expired;
}

async function deadFence(deps: EngineDeps, item: ItemState): Promise<number | null> {
  const entry = { key: item.id, fence: item.fence, ttlMs: item.claim?.ttlMs ?? 0 };
  const [seen] = await deps.coordination.claimClock.look([entry], await deps.time.now());
  return seen?.state === "dead" ? item.fence : null;
}

function shown(deps: EngineDeps, found: Found, blockers: Preview["blockers"]): GetNextStatusOutput {
  const { item, start } = found;
  const base = {
    itemId: item.id,
    currentRole: item.role,
    progressionPosition: position(
      item.role === "blocked" ? (item.previousRole ?? "queue") : item.role,
      found.hasReviewPhase,
    ),
    triggers: [...found.triggers],
  };
  if (start.kind === "applied") {
    return { ...base, recommendation: "Ready", nextRole: start.state.role, trigger: "start" };
  }
  if (item.role === "terminal") {
    const reason = `the item is ${item.outcome ?? "done"}`;
    return {
      ...base,
      recommendation: "Terminal",
      reason,
      suggestion: "Nothing is left to do; trigger reopen brings it back to the queue.",
    };
  }
  const refused = refusalElement(item.id, "start", start.refusal, blockers, deps.settings.onCancelled);
  return {
    ...base,
    recommendation: "Blocked",
    reason: start.refusal.code,
    suggestion: suggestion(start.refusal, item, hintOf(refused)),
    ...(Array.isArray(refused["blockers"])
      ? { blockers: refused["blockers"] as NonNullable<GetNextStatusOutput["blockers"]> }
      : {}),
    ...(start.refusal.code === "gate_blocked"
      ? {
          nextRole: start.refusal.to,
          missingNotes: start.refusal.obstacle.missing.map(({ key, role, required }) => ({
            key,
            role,
            required,
            exists: false,
          })),
        }
      : {}),
    ...(start.refusal.code === "not_claim_holder" ? { retryAfterMs: start.refusal.msLeft } : {}),
    ...(start.refusal.code === "resource_unavailable" ? contention(start.refusal.contended) : {}),
  };
}

function contention({ keys, retryAfterMs }: LeaseObstacle): Partial<GetNextStatusOutput> {
  return { contendedResources: [...keys], retryAfterMs };
}

function hintOf(refused: Readonly<Record<string, unknown>>): string {
  const { hint } = refused;
  return typeof hint === "string" ? hint : "";
}

function suggestion(refusal: AdvanceRefusal, item: ItemState, hint: string): string {
  if (refusal.code !== "invalid_transition") return hint;
  return item.previousRole === null
    ? "The item is blocked and has no role to go back to: cancel it."
    : `The item is blocked: trigger resume brings it back to ${item.previousRole}.`;
}

/** How far along: `1/3` in the queue, `3/3` when closed; a review phase makes it four. */
function position(role: Role, hasReviewPhase: boolean): string {
  const phases: readonly Role[] = hasReviewPhase
    ? ["queue", "work", "review", "terminal"]
    : ["queue", "work", "terminal"];
  // Without a review phase of its own, an item in review is on its last step before the end.
  const at = phases.indexOf(role);
  return `${at === -1 ? phases.length - 1 : at + 1}/${phases.length}`;
}
