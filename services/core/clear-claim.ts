import { looseFromClaim } from "./leases/hold-leases.ts";
import type { EndReason } from "./state.ts";
import type { World } from "./world.ts";

/** Takes the claim away and nothing else; the fence rises, so that the old holder's writes are refused. */
export function clearClaim(
  world: World,
  id: string,
  reason: EndReason,
  detail: string | null,
  failure: "item" | "environment" | null = null,
): void {
  const before = world.get(id);
  if (!before.claim) return;
  world.ended.push({ itemId: id, fence: before.fence, reason, detail, failure });
  looseFromClaim(world, before, reason);
  const after = world.update(id, { claim: null, fence: before.fence + 1 });
  // Finishing says so itself: the item went to terminal, and its claim with it.
  if (reason === "completed") return;
  world.events.push({
    type: reason === "expired" ? "claim.expired" : "claim.ended",
    itemId: id,
    rootId: after.rootId,
    data: { fence: before.fence, agent: before.claim.agent, reason },
  });
}
