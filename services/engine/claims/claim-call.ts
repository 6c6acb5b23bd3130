/** One claim on its way through a flush, and what came of it. */
import type { CallRecord } from "../audit/call-record.ts";
import type { IdempotencyRecord } from "../../../db/stores/idempotency-store.ts";
import type { AdvanceRefusal } from "../../core/advance.ts";
import type { ClaimVerdict } from "../../core/claim.ts";
import type { Author } from "../../core/world.ts";
import type { Predicate } from "./predicate.ts";

export type ClaimTarget =
  | { readonly kind: "item"; readonly itemId: string }
  | { readonly kind: "selector"; readonly predicate: Predicate };

export interface ClaimCall {
  readonly target: ClaimTarget;
  readonly agent: string;
  readonly session: string;
  readonly parentAgent: string | null;
  readonly capabilities: readonly string[];
  readonly author: Author;
  readonly ttlMs: number;
  readonly start: boolean;
  /** Proves a tenure of this agent that another session began. */
  readonly fence: number | null;
  readonly claimRef: string | null;
  readonly record: IdempotencyRecord | null;
  /** The claim clock saw the holder of this fence die. */
  readonly deadFence: number | null;
  /** Aborted when the caller is gone: then nothing is taken. */
  readonly signal: AbortSignal;
  /** The record of the call, written with the claim. */
  readonly audit?: CallRecord | undefined;
}

export type HeldVerdict = Extract<ClaimVerdict, { kind: "held" }>;

export type RefusalCode = "terminal_item" | "item_dead" | "tenure_over" | "agent_drained";

export type ClaimOutcome =
  | {
      readonly kind: "granted";
      readonly answer: GrantedAnswer;
      /** The caller held it already: the tenure went on, perhaps with another ttl. */
      readonly refreshed: boolean;
    }
  | { readonly kind: "replayed"; readonly answer: GrantedAnswer }
  /** A selector found nothing that is free right now. */
  | { readonly kind: "empty" }
  | { readonly kind: "not_found" }
  | { readonly kind: "held"; readonly verdict: HeldVerdict; readonly fence: number; readonly ttlMs: number }
  | { readonly kind: "refused"; readonly code: RefusalCode }
  /** Claimed it could be, but `start: true` could not be done; nothing was changed. */
  | { readonly kind: "not_startable"; readonly refusal: AdvanceRefusal }
  | { readonly kind: "gone" };

/** As stored with the key; what depends on the time of reading is worked out when it is shown. */
export interface GrantedAnswer {
  readonly itemId: string;
  readonly session: string;
  readonly claimedBy: string;
  readonly claimedAt: number;
  readonly expiresAt: number;
  readonly originalClaimedAt: number;
  readonly ttlMs: number;
  readonly fence: number;
  readonly attempt: number;
  readonly selectorResolved: boolean;
  readonly started: boolean;
  readonly claimRef: string | null;
  readonly warnings: readonly string[];
  readonly item: Readonly<Record<string, unknown>>;
}
