/** An attempt that ends badly: back to where it can be tried again, after a wait, or out of every queue. */
import type { AdvanceRequest } from "./advance.ts";
import type { CascadeEvent } from "./cascade.ts";
import { clearClaim } from "./clear-claim.ts";
import { moveItem } from "./move.ts";
import { judgeFailure } from "./retry.ts";
import type { ItemState } from "./state.ts";
import { bury } from "./tenure.ts";
import type { World } from "./world.ts";

/** Somebody said that there is work left: that outweighs a closing that was withheld. */
export function keepOpen(world: World, id: string): void {
  if (world.get(id).closeWithheld) world.update(id, { closeWithheld: false });
}

export function applyFailure(
  world: World,
  before: ItemState,
  request: AdvanceRequest,
  cascades: CascadeEvent[],
  unblocked: string[],
): void {
  const { class: failureClass, reason } = request.failure;
  const verdict = judgeFailure(failureClass, before.attempts, world.policyOf(before), request.random);
  clearClaim(world, before.id, "failed", reason, failureClass);
  keepOpen(world, before.id);
  world.update(before.id, { attempts: verdict.attempts });
  if (verdict.kind === "dead") {
    const report = { events: cascades, unblocked: [] as { itemId: string }[] };
    bury(world, before.id, "fail", reason ?? "the last allowed attempt failed", request.by, report);
    unblocked.push(...report.unblocked.map((one) => one.itemId));
    return;
  }
  const freed = moveItem(world, before.id, {
    role: before.role === "review" ? "review" : "queue",
    outcome: null,
    label: request.label,
    trigger: "fail",
    summary: reason ?? request.summary,
    by: request.by,
  });
  world.update(before.id, { availableAt: world.now + verdict.waitMs });
  unblocked.push(...freed.map((one) => one.itemId));
}
