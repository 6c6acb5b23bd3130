/** `claim_item`: take, keep and give back the exclusive right to work on an item. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, at, id, role } from "../answers.ts";
import { claimEntry, claimLines, claimResult } from "../claiming.ts";
import { crossField } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { BATCH_SIZE_MAX, CLAIMS_PER_CALL_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";

const releaseEntry = z.strictObject({
  itemId: fields.itemRef,
  fence: fields.fence.optional(),
  requeue: fields.flag.default(false).describe("Also move work back to queue."),
  delaySeconds: fields.delaySeconds.optional().describe("Not offered before."),
});
export type ReleaseEntry = z.output<typeof releaseEntry>;

const refreshEntry = z.strictObject({
  itemId: fields.itemRef,
  fence: fields.fence,
  ttlSeconds: fields.ttlSeconds.optional(),
});
export type RefreshEntry = z.output<typeof refreshEntry>;

const input = z
  .strictObject({
    actor: fields.actor,
    requestId: fields.requestId,
    claims: z.array(claimEntry).default([]).describe("At most one."),
    releases: z.array(releaseEntry).max(BATCH_SIZE_MAX).default([]),
    refreshes: z.array(refreshEntry).max(BATCH_SIZE_MAX).default([]).describe("Heartbeats."),
    waitSeconds: fields.waitSeconds.default(0).describe("Wait this long for an item."),
    workerId: fields.workerId.optional(),
    capabilities: fields.nameCsv.optional().describe("Comma-separated; what you can do."),
  })
  .superRefine(
    ...crossField((call, add) => {
      const size = (name: string): number =>
        Array.isArray(call[name]) ? (call[name] as unknown[]).length : 0;
      if (size("claims") > CLAIMS_PER_CALL_MAX) {
        add(
          ["claims"],
          `has ${size("claims")} entries; one call claims one item`,
          "multi_claim_not_supported",
        );
      }
      if (size("claims") + size("releases") + size("refreshes") === 0) {
        add(
          [],
          "needs an entry in claims, releases or refreshes; claims: [{selector: {}}] takes the best item of the queue",
        );
      }
    }),
  );
/** A parsed call. */
export type ClaimItemInput = z.output<typeof input>;
/** A call as clients write it. */
export type ClaimItemRequest = z.input<typeof input>;

const releaseResult = answer({
  itemId: id,
  outcome: z.enum(["success", "not_claimed_by_you", "not_found", "claim_lost", "db_error"]),
  requeued: z.boolean().optional(),
  role: role.optional(),
  error: z.string().optional(),
  hint: z.string().optional(),
  replayed: z.boolean().optional(),
});
export type ReleaseResult = z.output<typeof releaseResult>;

const refreshResult = answer({
  itemId: id,
  outcome: z.enum(["success", "claim_lost", "tenure_over", "not_found", "db_error"]),
  claimExpiresAt: at.optional(),
  msLeft: z.int().optional(),
  fence: z.int().optional(),
  changed: z.boolean().optional(),
  /** Take nothing new once this is finished. */
  drain: z.boolean().optional(),
  /** An operator took these away: what is under way must not go on using them. */
  lostResources: z.array(z.string()).optional(),
  error: z.string().optional(),
  hint: z.string().optional(),
});
export type RefreshResult = z.output<typeof refreshResult>;

const output = answer({
  claims: z.array(claimResult),
  releases: z.array(releaseResult),
  refreshes: z.array(refreshResult),
  workerId: z.string(),
  replayed: z.boolean().optional(),
});
export type ClaimItemOutput = z.output<typeof output>;

function render(result: ClaimItemOutput): string {
  return bounded([
    ...result.claims.flatMap((claim) => claimLines(claim, result.workerId)),
    ...result.releases.map((release) => {
      const done = release.outcome === "success" ? "RELEASED" : `NOT RELEASED ${release.outcome}`;
      return `${done} ${release.itemId} ${facts({ role: release.role, requeued: release.requeued })}`.trim();
    }),
    ...result.refreshes.map((refresh) =>
      refresh.outcome === "success"
        ? `RENEWED ${refresh.itemId} ${facts({ fence: refresh.fence, expires: refresh.claimExpiresAt, changed: refresh.changed, drain: refresh.drain, lostResources: refresh.lostResources?.join(",") })}`
        : `NOT RENEWED ${refresh.itemId} ${refresh.outcome}: stop working on it, or claim it again`,
    ),
    `workerId=${result.workerId} (pass it with every call of this worker)`,
  ]);
}

export const claimItem = defineOperation({
  name: "claim_item",
  description:
    "Claim one item to work on: by itemId, or the best one for a selector (selector {} = queue, by priority). " +
    "start: true also moves it to work. The answer has fence and workerId: pass them on. " +
    "Keep a claim with refreshes before half its ttl; give it back with releases. One claim per worker: a new one releases the old.",
  input,
  output,
  annotations: writes("Claim an item", { destructive: false }),
  capability: "claim",
  capabilitiesFor: ({ claims }) => [
    "claim",
    ...(claims.some(({ start }) => start) ? (["advance"] as const) : []),
  ],
  toolsets: ["worker"],
  mcp: true,
  render,
});
