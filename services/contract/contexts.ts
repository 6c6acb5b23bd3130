/** What `get_context` answers, and how it reads. */
import { z } from "zod";
import { ancestor, answer, at, blocker, id, itemHeadShape, role } from "./answers.ts";
import { brief, briefLines } from "./briefs.ts";
import { bounded, facts, itemLine, oneLine } from "./rendering.ts";

const contextItem = answer({
  id,
  ...itemHeadShape,
  statusLabel: z.string().optional(),
  isClaimed: z.boolean().optional(),
  claimLapsed: z.boolean().optional(),
  dead: z.boolean().optional(),
  roleChangedAt: at.optional(),
  ancestors: z.array(ancestor).optional(),
});
export type ContextItem = z.output<typeof contextItem>;

const schemaEntry = answer({
  key: z.string(),
  role: z.string(),
  required: z.boolean(),
  exists: z.boolean(),
  filled: z.boolean(),
});

const BLOCKED_BY = ["table", "dependency", "note", "lease", "claim"] as const;

const itemContext = answer({
  mode: z.literal("item"),
  item: contextItem,
  schema: z.array(schemaEntry),
  gateStatus: answer({
    /** A start would succeed now. */
    canAdvance: z.boolean(),
    phase: role,
    missing: z.array(z.string()),
    blockedBy: z.enum(BLOCKED_BY).optional(),
    reason: z.string().optional(),
    suggestion: z.string().optional(),
    blockers: z.array(blocker).optional(),
  }),
  guidanceKey: z.string().optional(),
  skillPointer: z.string().optional(),
  claimDetail: answer({
    claimedBy: z.string(),
    claimedAt: at,
    claimExpiresAt: at,
    originalClaimedAt: at,
    isExpired: z.boolean(),
  }).optional(),
  resourceLeases: z
    .array(
      answer({
        key: z.string(),
        mode: z.string(),
        held: z.boolean(),
        holderItemId: id.optional(),
        acquiredByActorId: z.string().optional(),
        expiresAt: at.optional(),
      }),
    )
    .optional(),
});
export type ItemContextAnswer = z.output<typeof itemContext>;

const briefContext = answer({ mode: z.literal("brief"), ...brief.shape });
export type BriefAnswer = z.output<typeof briefContext>;

const heldClaim = answer({
  itemId: id,
  title: z.string(),
  role,
  statusLabel: z.string().optional(),
  fence: z.int(),
  claimedAt: at,
  claimExpiresAt: at,
  msLeft: z.int(),
  lapsed: z.boolean().optional(),
});
export type HeldClaim = z.output<typeof heldClaim>;

const dispatchedClaim = answer({ ...heldClaim.shape, agent: z.string() });
export type DispatchedClaim = z.output<typeof dispatchedClaim>;

const endedAttempt = answer({
  itemId: id,
  title: z.string(),
  agent: z.string(),
  fence: z.int(),
  endReason: z.string(),
  endedAt: at,
  /** Where the item stands now. */
  role,
  outcome: z.string().optional(),
  statusLabel: z.string().optional(),
  dead: z.boolean().optional(),
  detail: z.string().optional(),
  summary: z.string().optional(),
});
export type EndedAttempt = z.output<typeof endedAttempt>;

const agentContext = answer({
  mode: z.literal("agent"),
  agent: z.string(),
  held: z.array(heldClaim),
  heldTotal: z.int(),
  dispatched: z.array(dispatchedClaim),
  dispatchedTotal: z.int(),
  ended: z.array(endedAttempt),
  /** More has ended: ask again with the cursor. */
  hasMore: z.boolean(),
  cursor: z.string(),
  /** The cursor was made before the database was restored: everything recent is told again. */
  cursorReset: z.boolean().optional(),
});
export type AgentContext = z.output<typeof agentContext>;

const stalledItem = answer({
  ...contextItem.shape,
  reason: z.enum(["missing_notes", "unclaimed", "claim_lapsed"]),
  missingNotes: z.array(z.string()),
  guidanceKey: z.string().optional(),
});
export type StalledItem = z.output<typeof stalledItem>;

const recentTransition = answer({
  itemId: id,
  title: z.string(),
  fromRole: role,
  toRole: role,
  trigger: z.string(),
  at,
  actorId: z.string().optional(),
  summary: z.string().optional(),
});
export type RecentTransition = z.output<typeof recentTransition>;

const sessionContext = answer({
  mode: z.literal("session-resume"),
  since: at,
  activeItems: z.array(contextItem),
  recentTransitions: z.array(recentTransition),
  stalledItems: z.array(stalledItem),
  /** Some list is cut. */
  truncated: z.boolean().optional(),
});
export type SessionContext = z.output<typeof sessionContext>;

const healthContext = answer({
  mode: z.literal("health-check"),
  activeItems: z.array(contextItem),
  blockedItems: z.array(contextItem),
  stalledItems: z.array(stalledItem),
  claimSummary: answer({ active: z.int(), expired: z.int() }),
  truncated: z.boolean().optional(),
});
export type HealthContext = z.output<typeof healthContext>;

export const contextAnswer = z.union([
  itemContext,
  briefContext,
  agentContext,
  sessionContext,
  healthContext,
]);
export type ContextAnswer = z.output<typeof contextAnswer>;

/** Enough to act on alone, whatever was asked. */
export function renderContext(result: ContextAnswer): string {
  switch (result.mode) {
    case "brief":
      return bounded(briefLines(result), 60);
    case "item":
      return renderItem(result);
    case "agent":
      return renderAgent(result);
    case "session-resume":
    case "health-check":
      return renderBoard(result);
  }
}

function renderItem({ item, gateStatus, claimDetail, guidanceKey, skillPointer }: ItemContextAnswer): string {
  const { canAdvance, phase, missing, blockedBy, suggestion } = gateStatus;
  return bounded([
    itemLine(item),
    facts({ canAdvance: String(canAdvance), phase, missing, blockedBy, guidanceKey, skillPointer }),
    claimDetail === undefined
      ? ""
      : facts({
          claimedBy: claimDetail.claimedBy,
          until: claimDetail.claimExpiresAt,
          lapsed: claimDetail.isExpired,
        }),
    suggestion === undefined ? "" : `Next: ${suggestion}`,
  ]);
}

function renderAgent(result: AgentContext): string {
  const { held, heldTotal, dispatched, dispatchedTotal, ended, hasMore, cursor } = result;
  return bounded([
    ...ended.map(
      (one) =>
        `ENDED ${one.itemId} ${one.endReason} by ${one.agent} [${one.role}] ${oneLine(one.title, 80)}${one.detail ? `: ${oneLine(one.detail)}` : ""}`,
    ),
    hasMore ? "More has ended: ask again with the cursor." : "",
    `holds ${heldTotal}, dispatched ${dispatchedTotal}`,
    ...held.map((one) => `holds ${one.itemId} fence=${one.fence} ${oneLine(one.title, 80)}`),
    ...dispatched.map((one) => `${one.agent} works on ${one.itemId} [${one.role}] ${oneLine(one.title, 80)}`),
    `cursor=${cursor}`,
  ]);
}

function renderBoard(result: SessionContext | HealthContext): string {
  return bounded([
    "claimSummary" in result ? `claims: ${facts(result.claimSummary)}` : `since ${result.since}`,
    ...("recentTransitions" in result
      ? result.recentTransitions.map(
          (one) => `${one.at} ${one.itemId} ${one.fromRole} -> ${one.toRole} ${oneLine(one.title, 80)}`,
        )
      : []),
    ...result.stalledItems.map(
      (one) => `STALLED ${one.reason} ${itemLine(one)} ${facts({ missing: one.missingNotes })}`,
    ),
    ...("blockedItems" in result ? result.blockedItems.map((one) => `BLOCKED ${itemLine(one)}`) : []),
    ...result.activeItems.map((one) => `ACTIVE ${itemLine(one)}`),
    result.truncated ? "There is more than is shown." : "",
  ]);
}
