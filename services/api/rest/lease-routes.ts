/** Resources: who has them, who had them, and taking them away. */
import { z } from "zod";
import {
  LEASE_HISTORY_LIMIT_DEFAULT,
  LEASE_HISTORY_LIMIT_MAX,
  REASON_LENGTH_MAX,
} from "../../contract/limits.ts";
import { listLeaseHistory } from "../../contract/operations/list-lease-history.ts";
import { listLeases } from "../../contract/operations/list-leases.ts";
import { releaseLeases } from "../../contract/operations/release-leases.ts";
import { type Access, isGranted } from "../../engine/access.ts";
import { replayMark } from "./element.ts";
import { readRoute, type Route, route } from "./route.ts";

const AREA = "Resources";

/** Which agent it was is for administrators. */
function withoutActors(rows: readonly object[], access: Access): Record<string, unknown>[] {
  return rows.map((row) => {
    const { acquiredByActorId, releasedByActorId, ...rest } = row as Record<string, unknown>;
    return isGranted(access, "admin")
      ? {
          ...rest,
          ...(acquiredByActorId === undefined ? {} : { acquiredByActorId }),
          ...(releasedByActorId === undefined ? {} : { releasedByActorId }),
        }
      : rest;
  });
}

export const LEASE_ROUTES: readonly Route[] = [
  {
    ...readRoute({
      path: "/resources/leases",
      area: AREA,
      summary: "List which item has which resource",
      operation: "list_leases",
      refusals: ["RESOURCE_NOT_FOUND"],
    }),
    success: [{ status: 200, description: "Leases that are in force", schema: listLeases.output }],
    toResponse: (output, { access }) => ({
      status: 200,
      body: { ...output, leases: withoutActors(output["leases"] as object[], access) },
    }),
  },
  route({
    method: "GET",
    path: "/resources/leases/history",
    area: AREA,
    summary: "List which item had which resource when, the latest first",
    operation: "list_lease_history",
    query: z.strictObject({
      key: z.string().optional(),
      itemId: z.string().optional().describe("Full id."),
      at: z.string().optional().describe("ISO 8601: who had it at this instant."),
      limit: z.int().min(1).max(LEASE_HISTORY_LIMIT_MAX).default(LEASE_HISTORY_LIMIT_DEFAULT),
      offset: z.int().min(0).default(0),
    }),
    success: [{ status: 200, description: "Intervals", schema: listLeaseHistory.output }],
    refusals: [],
    toInput: ({ query }) => ({ ...query }),
    toResponse: (output, { access }) => ({
      status: 200,
      body: { ...output, intervals: withoutActors(output.intervals, access) },
    }),
  }),
  route({
    method: "DELETE",
    path: "/resources/leases/{key+}",
    area: AREA,
    summary: "Take a resource away from the items that have it; they stay in work",
    operation: "release_leases",
    query: z.strictObject({
      reason: z.string().trim().min(1).max(REASON_LENGTH_MAX).describe("Why; kept with the history."),
    }),
    idempotent: true,
    success: [{ status: 200, description: "What was taken from whom", schema: releaseLeases.output }],
    refusals: ["RESOURCE_NOT_FOUND", "VALIDATION_ERROR"],
    toInput: ({ params, query, actor, requestId }) => ({
      key: params["key"] ?? "",
      reason: query.reason,
      actor,
      requestId,
    }),
    toResponse: ({ replayed, ...output }) => ({ status: 200, body: output, headers: replayMark(replayed) }),
  }),
];
