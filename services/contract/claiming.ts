/**
 * Shapes of claims that more than one operation speaks: `claim_item` takes and
 * answers them, and so does `advance_item` through `claimNext`.
 */
import { z } from "zod";
import { answer, ancestor, at, id, itemHeadShape } from "./answers.ts";
import { countPresent, crossField } from "./cross-field.ts";
import { brief, briefLines } from "./briefs.ts";
import * as fields from "./fields.ts";
import { selector } from "./filters.ts";
import { CLAIM_REF_LENGTH_MAX, TTL_DEFAULT_SECONDS } from "./limits.ts";
import { shownElsewhere, unlisted } from "./listing-marks.ts";
import { facts, itemLine, matchesText, oneLine } from "./rendering.ts";

const entryShape = {
  itemId: fields.itemRef.optional(),
  selector: selector.optional().describe("Instead of itemId."),
  ttlSeconds: fields.ttlSeconds.default(TTL_DEFAULT_SECONDS),
  start: fields.flag.default(false).describe("Also move queue to work."),
  fence: fields.fence.optional().describe("Takes your own claim over from another session."),
  claimRef: z.string().trim().min(1).max(CLAIM_REF_LENGTH_MAX).optional().describe("Echoed."),
  include: z.enum(["brief"]).optional().describe("Also answers what working on it needs."),
  // Accepted since the original accepts it; the holder is actor.id.
  agentId: unlisted(z.string().optional()),
};

const itemOrSelector = crossField((entry, add) => {
  if (countPresent(entry, ["itemId", "selector"]) === 1) return;
  add([], "needs exactly one of itemId and selector; selector: {} takes the best item of the queue");
});

/** What to claim: one item by id, or the best one that a selector offers. */
export const claimEntry = z.strictObject(entryShape).superRefine(...itemOrSelector);
export type ClaimEntry = z.output<typeof claimEntry>;

/** The same, listed without the fields of the selector: for a tool beside `claim_item`. */
export const claimEntryInBrief = z
  .strictObject({ ...entryShape, selector: shownElsewhere(selector, "As in claim_item.").optional() })
  .superRefine(...itemOrSelector);

const claimedItem = answer({ id, ...itemHeadShape, ancestors: z.array(ancestor).optional() });

/** A claim that stands. */
const claimGranted = answer({
  itemId: id,
  outcome: z.literal("success"),
  claimRef: z.string().optional(),
  claimedBy: z.string(),
  claimedAt: at,
  claimExpiresAt: at,
  originalClaimedAt: at.optional(),
  ttlSeconds: z.int(),
  msLeft: z.int(),
  fence: z.int(),
  attempt: z.int(),
  selectorResolved: z.boolean().optional(),
  item: claimedItem,
  started: z.boolean().optional(),
  warnings: z.array(z.string()).optional(),
  replayed: z.boolean().optional(),
  fenceCurrent: z.boolean().optional(),
  /** As of now, also in a replay. */
  brief: brief.optional(),
});
export type ClaimGranted = z.output<typeof claimGranted>;

/** Why items that match were not offered, counted (and capped). */
export const excludedCounts = answer({
  claimed: z.int().optional(),
  ancestorClaimed: z.int().optional(),
  dependencyBlocked: z.int().optional(),
  waiting: z.int().optional(),
  capabilities: z.int().optional(),
  assignee: z.int().optional(),
  /** Reviews that must be independent of what the caller wrote; absent: none. */
  independence: z.int().optional(),
  dead: z.int().optional(),
  containers: z.int().optional(),
  resources: z.int().optional(),
  /** In roots where claiming is paused, since their environment is broken; and how many such roots there are. */
  paused: z.int().optional(),
  pausedRoots: z.int().optional(),
  busy: z.int().optional(),
});
export type ExcludedCounts = z.output<typeof excludedCounts>;

export const CLAIM_REFUSALS = [
  "queue_empty",
  "none_eligible",
  "already_claimed",
  "not_found",
  "ambiguous_id",
  "terminal_item",
  "item_dead",
  "claim_lost",
  "tenure_over",
  "dependency_blocked",
  "gate_blocked",
  "resource_unavailable",
  "invalid_transition",
  "idempotency_mismatch",
  "idempotency_in_flight",
  "idempotency_target_gone",
  "rejected_by_policy",
  "db_error",
  "draining",
  "agent_drained",
] as const;

/** A claim that was not given. */
const claimRefused = answer({
  outcome: z.enum(CLAIM_REFUSALS),
  kind: z.enum(["transient", "permanent", "shedding"]),
  error: z.string(),
  hint: z.string(),
  itemId: id.optional(),
  claimRef: z.string().optional(),
  retryAfterMs: z.int().optional(),
  contendedItemId: id.optional(),
  contendedResources: z.array(z.string()).optional(),
  excluded: excludedCounts.optional(),
  nextAt: at.optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type ClaimRefused = z.output<typeof claimRefused>;

export const claimResult = z.union([claimGranted, claimRefused]);
export type ClaimResult = z.output<typeof claimResult>;

export function isGranted(result: ClaimResult): result is ClaimGranted {
  return result.outcome === "success";
}

/** A claim result in a few lines. */
export function claimLines(result: ClaimResult, workerId: string | undefined): string[] {
  if (!isGranted(result)) {
    const numbers = facts({
      itemId: result.itemId,
      retryAfterMs: result.retryAfterMs,
      nextAt: result.nextAt,
    });
    const counts = result.excluded === undefined ? "" : facts(result.excluded);
    return [
      `NOT CLAIMED ${result.outcome} (${result.kind}): ${result.error}${matchesText(result.details)}${numbers === "" ? "" : ` ${numbers}`}`,
      counts === "" ? "" : `Not offered: ${counts}`,
      `Next: ${result.hint}`,
    ];
  }
  const { item } = result;
  const replay = result.replayed
    ? `Replayed answer; ${result.fenceCurrent === false ? "the claim has ended since" : "still held"}.`
    : "";
  return [
    `CLAIMED ${itemLine(item)}`,
    facts({
      fence: result.fence,
      workerId,
      attempt: result.attempt,
      expires: result.claimExpiresAt,
      ttlSeconds: result.ttlSeconds,
    }),
    item.summary ? `Summary: ${oneLine(item.summary, 500)}` : "",
    item.parentId ? `Parent: ${item.parentId}` : "",
    ...(result.brief === undefined ? [] : briefLines(result.brief).slice(1)),
    ...(result.warnings ?? []).map((warning) => `Warning: ${warning}`),
    replay,
    nextStep(result, workerId),
  ];
}

function nextStep(result: ClaimGranted, workerId: string | undefined): string {
  const keep = `Renew before half the ttl with claim_item refreshes [{itemId, fence}]`;
  const who = workerId === undefined ? "" : `, workerId "${workerId}"`;
  const move =
    result.item.role === "queue"
      ? "advance_item trigger start, work, then start again"
      : "work, then advance_item trigger start";
  return `Next: ${move} (pass fence ${result.fence}${who}). ${keep}.`;
}
