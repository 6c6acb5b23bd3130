/** The shapes of the wire that this package hands through, under the names its users see. */
import type { ClaimItemRequest } from "../contract/operations/claim-item.ts";
import type { AdvanceItemRequest } from "../contract/operations/advance-item.ts";

export type { ClaimGranted, ClaimRefused, ClaimResult, ExcludedCounts } from "../contract/claiming.ts";
export type { ClaimItemOutput, RefreshResult, ReleaseResult } from "../contract/operations/claim-item.ts";
export type {
  AdvanceItemOutput,
  AdvanceItemRequest,
  TransitionApplied,
  TransitionRefused,
} from "../contract/operations/advance-item.ts";

/** What to claim: an item by id, or the best one that a selector offers. */
export type ClaimRequest = NonNullable<ClaimItemRequest["claims"]>[number];
/** Which items to choose from, and which of them first. `{}` is the whole queue, by priority. */
export type Selector = NonNullable<ClaimRequest["selector"]>;
export type ReleaseRequest = NonNullable<ClaimItemRequest["releases"]>[number];
export type RefreshRequest = NonNullable<ClaimItemRequest["refreshes"]>[number];
/** One move of an item between roles. */
export type TransitionRequest = NonNullable<AdvanceItemRequest["transitions"]>[number];
