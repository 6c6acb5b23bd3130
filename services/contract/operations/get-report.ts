/** `get_report`: what stands still, what is late, what was done, and how much. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, priority, role } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_MAX, REPORT_DAYS_MAX, REPORT_LIMIT_DEFAULT } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

export const REPORTS = ["stale", "overdue", "standup", "changelog", "activity", "throughput"] as const;
export type Report = (typeof REPORTS)[number];

const input = z.strictObject({
  report: z.enum(REPORTS),
  ancestorId: fields.itemRef.optional().describe("Only this subtree."),
  days: z
    .int()
    .min(1)
    .max(REPORT_DAYS_MAX)
    .optional()
    .describe("How far back. standup, activity 1; others 7. overdue: also due within."),
  stalledHours: z.int().min(1).max(8_760).default(72).describe("stale: without progress for."),
  agent: fields.agentName.optional().describe("activity: of this actor.id."),
  limit: fields.listLimit(LIST_LIMIT_MAX, REPORT_LIMIT_DEFAULT).describe("Per section."),
});
/** A parsed call. */
export type GetReportInput = z.output<typeof input>;
export type GetReportRequest = z.input<typeof input>;

const entry = answer({
  itemId: id,
  title: z.string(),
  role,
  priority,
  /** What the section is about: when it was due, when it was done, since when it stands still. */
  at: at.optional(),
  agent: z.string().optional(),
  what: z.string().optional(),
});
export type ReportEntry = z.output<typeof entry>;

const section = answer({
  name: z.string(),
  entries: z.array(entry),
  hasMore: z.boolean(),
});
export type ReportSection = z.output<typeof section>;

const day = answer({
  day: z.string(),
  started: z.int(),
  done: z.int(),
  cancelled: z.int(),
  failed: z.int(),
});
export type ReportDay = z.output<typeof day>;

const output = answer({
  report: z.enum(REPORTS),
  at,
  since: at.optional(),
  sections: z.array(section),
  /** Of throughput: by day of UTC. */
  days: z.array(day).optional(),
  /** Some of it could not be read: those parts are not empty but unknown. */
  degraded: z.boolean().optional(),
  degradedSections: z.array(z.string()).optional(),
});
export type GetReportOutput = z.output<typeof output>;

function render(result: GetReportOutput): string {
  const { report, sections, days = [], degradedSections = [] } = result;
  return bounded([
    `${report} ${facts({ at: result.at, since: result.since })}`,
    degradedSections.length === 0 ? "" : `NOT READ, ask again: ${degradedSections.join(", ")}`,
    ...sections.flatMap(({ name, entries, hasMore }) => [
      `${name}: ${entries.length}${hasMore ? " and more" : ""}`,
      ...entries.map(
        (one) =>
          `  ${one.itemId} [${one.role}/${one.priority}] ${oneLine(one.title, 80)} ${facts({ at: one.at, agent: one.agent, what: one.what === undefined ? undefined : oneLine(one.what, 80) })}`,
      ),
    ]),
    ...days.map((one) => facts({ ...one })),
  ]);
}

export const getReport = defineOperation({
  name: "get_report",
  description:
    "Report. stale: stalled, overdue, blocked, ready to close. overdue: and due soon. standup: done, in progress, " +
    "blocked, next. changelog: done, by root. activity: moves. throughput: counts by day.",
  input,
  output,
  annotations: readsOnly("Report"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
