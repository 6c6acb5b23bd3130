/** The shapes of the wire that this package hands through, under the names its users see. */
import type { ClaimItemRequest } from "../contract/operations/claim-item.ts";
import type { AdvanceItemRequest } from "../contract/operations/advance-item.ts";
import type { OperationName, OutputOf, RequestOf } from "../contract/registry.ts";

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

/** Operations that are served as tools; these two are reads of the REST interface. */
type ToolName = Exclude<OperationName, "list_claims" | "list_agents">;
/** What the client fills in where a tool takes it. */
type Filled<T> = Extract<keyof T, "actor" | "requestId">;
type WithoutFilled<T> = Omit<T, Filled<T>> & Partial<Pick<T, Filled<T>>>;

/** What a tool takes. Tools that this version does not know, because the server is newer, take any object. */
export type ToolInput<N extends string> = N extends ToolName ? WithoutFilled<RequestOf<N>> : object;
/** What a tool answers. */
export type ToolOutput<N extends string> = N extends ToolName ? OutputOf<N> : Record<string, unknown>;
