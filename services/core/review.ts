/** Rounds of review: how often one may send an item back, and what happens past that. */
import type { CascadeEvent } from "./cascade.ts";
import { clearClaim } from "./clear-claim.ts";
import type { ItemState } from "./state.ts";
import { bury } from "./tenure.ts";
import type { Author, World } from "./world.ts";

/** Worn by an item whose rounds of review are used up. */
const REVIEW_LIMIT_LABEL = "review-limit";

/** True if the rounds that the schema allows are gone: who is right is for a person to say. */
export function sendsBackOnceMore(world: World, item: ItemState): boolean {
  return item.reviewRounds >= world.schemaOf(item).maxReviewRounds;
}

/** Takes the item out of every queue, as one whose attempts are used up: only a person brings it back. */
export function stopReviewing(
  world: World,
  before: ItemState,
  { by, summary }: { readonly by: Author; readonly summary: string | null },
  into: { readonly events: CascadeEvent[]; readonly unblocked: string[] },
): void {
  clearClaim(world, before.id, "released", null);
  const report = { events: into.events, unblocked: [] as { itemId: string }[] };
  const cause = summary ?? `reviews sent it back ${before.reviewRounds} times`;
  bury(world, before.id, "rework", cause, by, report, REVIEW_LIMIT_LABEL);
  into.unblocked.push(...report.unblocked.map((one) => one.itemId));
}
