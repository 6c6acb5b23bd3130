/** `list_lease_history`: which item had which resource when. For operators; REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LEASE_HISTORY_LIMIT_DEFAULT, LEASE_HISTORY_LIMIT_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";

const input = z.strictObject({
  key: fields.resourceKey.optional().describe("Of this resource."),
  itemId: fields.fullId.optional().describe("Of this item, deleted or not."),
  at: fields.instant.optional().describe("Who had it at this instant."),
  limit: fields.listLimit(LEASE_HISTORY_LIMIT_MAX, LEASE_HISTORY_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListLeaseHistoryInput = z.output<typeof input>;

const interval = answer({
  resourceKey: z.string(),
  mode: z.enum(["exclusive", "shared"]),
  holderItemId: id,
  /** For administrators, as `releasedByActorId`: the door leaves both out for anybody else. */
  acquiredByActorId: z.string().optional(),
  acquiredAt: at,
  /** When it will end, or would have ended, by itself; of an interval that is over, when it ended. */
  expiresAt: at.optional(),
  releasedAt: at.optional(),
  releaseReason: z.enum(["released", "expired", "force_released"]).optional(),
  releasedByActorId: z.string().optional(),
  detail: z.string().optional(),
});
export type LeaseInterval = z.output<typeof interval>;

const output = answer({
  intervals: z.array(interval),
  ...offsetPage,
});
export type ListLeaseHistoryOutput = z.output<typeof output>;

function render(result: ListLeaseHistoryOutput): string {
  return bounded([
    `${result.intervals.length} intervals${result.hasMore ? ", and more" : ""}, newest first`,
    ...result.intervals.map(
      (one) =>
        `${one.resourceKey} ${one.holderItemId} ${facts({ from: one.acquiredAt, to: one.releasedAt, ended: one.releaseReason })}`,
    ),
  ]);
}

export const listLeaseHistory = defineOperation({
  name: "list_lease_history",
  description: "List which item had which resource from when to when, newest first.",
  input,
  output,
  annotations: readsOnly("List the history of resource leases"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
