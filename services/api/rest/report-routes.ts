/** Reports, and the roots in which claiming is paused. */
import { z } from "zod";
import { getReport, REPORTS } from "../../contract/operations/get-report.ts";
import { resetBreaker } from "../../contract/operations/reset-breaker.ts";
import * as fields from "../../contract/fields.ts";
import { replayMark } from "./element.ts";
import { JSON_BODY, readRoute, route, type Route } from "./route.ts";

const AREA = "Reports";

export const REPORT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/reports/{report}",
    area: AREA,
    summary: `Read a report: ${REPORTS.join(", ")}`,
    operation: "get_report",
    query: z.strictObject({
      ancestorId: z.string().optional(),
      days: z.int().optional(),
      stalledHours: z.int().optional(),
      agent: z.string().optional(),
      limit: z.int().optional(),
    }),
    success: [{ status: 200, description: "Its sections", schema: getReport.output }],
    refusals: ["RESOURCE_NOT_FOUND"],
    // Which reports there are is for the contract to say, in the words that every door uses.
    toInput: ({ params, query }) => ({ ...query, report: params["report"] as (typeof REPORTS)[number] }),
  }),
  readRoute({
    path: "/breakers",
    area: AREA,
    summary: "List roots in which claiming is paused",
    operation: "list_breakers",
  }),
  route({
    method: "POST",
    path: "/breakers/{rootId}/reset",
    area: AREA,
    summary: "Let the items of a paused root be claimed again at once",
    operation: "reset_breaker",
    body: z.strictObject({ reason: fields.reason }),
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "Whether it was paused", schema: resetBreaker.output }],
    refusals: ["insufficient_capability"],
    toInput: ({ params, body, actor, requestId }) => ({
      ...body,
      rootId: params["rootId"] ?? "",
      actor,
      requestId,
    }),
    toResponse: (output) => ({ status: 200, body: output, headers: replayMark(output.replayed) }),
  }),
];
