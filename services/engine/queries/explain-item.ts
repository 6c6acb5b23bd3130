/** `explain_item`: is the item offered to this caller, and if not, every reason and what clears it. */
import { findPause } from "../../../db/stores/breaker-store.ts";
import { readIncomingEdges } from "../../../db/stores/blocked-store.ts";
import { readHeldAncestors, readItem } from "../../../db/stores/item-read-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import { toItemState } from "../../../db/stores/state-row.ts";
import { fault } from "../../contract/errors.ts";
import { DEPENDENCIES_PER_ITEM_MAX } from "../../contract/limits.ts";
import type {
  ExplainItemInput,
  ExplainItemOutput,
  ExplainReason,
} from "../../contract/operations/explain-item.ts";
import { findObstacles, type Offer } from "../../core/readiness.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { contendedItems } from "../leases/contended-items.ts";
import { requireItem } from "../resolve-items.ts";
import { reasonsFor } from "./explain-reasons.ts";
import { inSnapshot } from "./snapshot.ts";

/** An item is explained in the role that it is in: closed and held items are offered in none. */
const OFFER: Offer = { roles: ["queue", "work", "review"], containers: false, startable: false };

/** More reasons than this help nobody. */
const REASONS_SHOWN = 50;

export async function explainItem(
  deps: EngineDeps,
  input: ExplainItemInput,
  caller: Caller,
): Promise<ExplainItemOutput> {
  return await inSnapshot(deps, async (handle) => {
    const id = await requireItem(handle, input.itemId, caller);
    const row = await readItem(handle, id);
    if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
    const item = toItemState(row);
    const now = row.now.getTime();
    const heldAncestors = await readHeldAncestors(handle, item.ancestors);
    const agent = input.agent ?? null;
    const asker = {
      agent,
      capabilities: input.capabilities ?? [],
      session: agent === null ? null : (input.workerId ?? caller.session),
    };
    const held = heldAncestors.map((one) => ({ agent: one.agent, expiresAt: one.expires_at.getTime() }));
    const contended = (await contendedItems(deps, handle, [item], now)).get(id) ?? null;
    const paused = await findPause(handle, item.rootId);
    const obstacles = findObstacles({ item, heldAncestors: held, contended, paused }, asker, OFFER, now);
    const waiting = [
      ...(item.blockers > 0 ? [id] : []),
      ...(item.ancestorBlockers > 0 ? item.ancestors : []),
    ];
    const edges = await readIncomingEdges(handle, waiting, DEPENDENCIES_PER_ITEM_MAX);
    const titles = await findTitles(handle, obstacles.length === 0 ? [] : item.ancestors);
    const about = {
      item,
      asker,
      heldAncestors,
      edges,
      titles,
      onCancelled: deps.settings.onCancelled,
      contended,
      now,
    };
    const reasons = obstacles.flatMap((obstacle) => reasonsFor(obstacle, about));
    // No obstacle to a claim, but whoever claims it should know.
    if (contended !== null && item.role === "queue") {
      reasons.push(...reasonsFor({ code: "resources", until: now + contended.retryAfterMs }, about));
    }
    return {
      itemId: id,
      title: row.title,
      role: item.role,
      offered: obstacles.length === 0,
      reasons: capped(reasons),
    };
  });
}

function capped(reasons: readonly ExplainReason[]): ExplainReason[] {
  const left = reasons.length - REASONS_SHOWN;
  if (left <= 0) return [...reasons];
  return [
    ...reasons.slice(0, REASONS_SHOWN),
    {
      code: "more",
      message: `${left} more reasons like these`,
      clearedBy: "clearing these first; then ask again",
    },
  ];
}
