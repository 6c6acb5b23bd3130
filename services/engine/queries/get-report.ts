/**
 * `get_report`: each section is read by itself. One that cannot be read is named as degraded,
 * and the others are answered: a part that is unknown must never look like one that is empty.
 */
import {
  reportActive,
  reportClosable,
  reportDays,
  reportDone,
  reportDue,
  reportMoved,
  type ReportRow,
  type ReportScope,
  reportStalled,
  reportStuck,
} from "../../../db/stores/report-store.ts";
import { readHeads } from "../../../db/stores/item-read-store.ts";
import { selectCandidates } from "../../../db/stores/next-store.ts";
import type {
  GetReportInput,
  GetReportOutput,
  Report,
  ReportEntry,
  ReportSection,
} from "../../contract/operations/get-report.ts";
import { defaultRoles } from "../../core/readiness.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { fitPage } from "./fit-page.ts";

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<Report, number>> = {
  stale: 7,
  overdue: 7,
  standup: 1,
  changelog: 7,
  activity: 1,
  throughput: 7,
};
/** All sections of an answer share this: 16,000 tokens. */
const REPORT_SIZE_MAX_BYTES = 48_000;
const WHAT_SHOWN = 200;
/** How many of what comes next a standup names. */
const NEXT_SHOWN = 5;

interface Asked {
  readonly deps: EngineDeps;
  readonly input: GetReportInput;
  readonly scope: ReportScope;
  readonly now: Date;
  readonly since: Date;
}

type Section = readonly [name: string, read: (asked: Asked) => Promise<ReportRow[]>];

const OVERDUE: Section = ["overdue", ({ deps, scope }) => reportDue(deps.db, scope, null, null)];
const BLOCKED: Section = ["blocked", ({ deps, scope }) => reportStuck(deps.db, scope)];
const DONE: Section = ["done", ({ deps, scope, since }) => reportDone(deps.db, scope, since)];

const SECTIONS: Readonly<Record<Exclude<Report, "throughput">, readonly Section[]>> = {
  stale: [
    ["stalled", ({ deps, scope, input }) => reportStalled(deps.db, scope, input.stalledHours)],
    OVERDUE,
    BLOCKED,
    ["ready to close", ({ deps, scope }) => reportClosable(deps.db, scope)],
  ],
  overdue: [
    OVERDUE,
    [
      "due soon",
      ({ deps, scope, now, since }) =>
        reportDue(deps.db, scope, now, new Date(2 * now.getTime() - since.getTime())),
    ],
  ],
  standup: [
    DONE,
    ["in progress", ({ deps, scope }) => reportActive(deps.db, scope)],
    BLOCKED,
    ["next", comingNext],
  ],
  changelog: [DONE],
  activity: [
    ["moves", ({ deps, scope, since, input }) => reportMoved(deps.db, scope, since, input.agent ?? null)],
  ],
};

export async function getReport(
  deps: EngineDeps,
  input: GetReportInput,
  caller: Caller,
): Promise<GetReportOutput> {
  const { report, limit } = input;
  const now = new Date(await deps.time.now());
  const since = new Date(now.getTime() - (input.days ?? DAYS[report]) * DAY_MS);
  const ancestor =
    input.ancestorId === undefined ? null : await requireItem(deps.db, input.ancestorId, caller);
  const within = ancestor === null ? caller.access.scope : [ancestor];
  const asked: Asked = { deps, input, scope: { within, limit: limit + 1 }, now, since };
  const degraded: string[] = [];
  const attempt = async <T>(name: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      deps.log.warn({ err: error, report, section: name }, "a section of a report could not be read");
      degraded.push(name);
      return null;
    }
  };
  const sections: ReportSection[] = [];
  const parts = report === "throughput" ? [] : SECTIONS[report];
  for (const [name, read] of parts) {
    const rows = await attempt(name, () => read(asked));
    if (rows !== null) sections.push(...sectionsOf(report, name, rows, limit, parts.length));
  }
  const days =
    report === "throughput" ? await attempt("days", () => reportDays(deps.db, within, since)) : null;
  return {
    report,
    at: now.toISOString(),
    ...(report === "stale" ? {} : { since: since.toISOString() }),
    sections,
    ...(days === null ? {} : { days }),
    ...(degraded.length === 0 ? {} : { degraded: true, degradedSections: degraded }),
  };
}

/** A changelog has a section a root; everything else is as it was read. */
function sectionsOf(
  report: Report,
  name: string,
  rows: readonly ReportRow[],
  limit: number,
  parts: number,
): ReportSection[] {
  const shown = rows.slice(0, limit);
  const kept = fitPage(shown.map(toEntry), REPORT_SIZE_MAX_BYTES / parts);
  const hasMore = rows.length > kept.length;
  if (report !== "changelog") return [{ name, entries: kept, hasMore }];
  const groups = new Map<string, ReportEntry[]>();
  for (const [index, entry] of kept.entries()) {
    const group = clipText(shown[index]?.root_title ?? entry.title, WHAT_SHOWN);
    groups.set(group, [...(groups.get(group) ?? []), entry]);
  }
  return [...groups].map(([group, entries]) => ({ name: group, entries, hasMore }));
}

function toEntry(row: ReportRow): ReportEntry {
  return {
    itemId: row.item_id,
    title: row.title,
    role: row.role,
    priority: row.priority,
    at: row.at.toISOString(),
    ...(row.agent === null ? {} : { agent: row.agent }),
    ...(row.what === null ? {} : { what: clipText(row.what, WHAT_SHOWN) }),
  };
}

/** What a stranger would be offered. */
async function comingNext({ deps, scope, input }: Asked): Promise<ReportRow[]> {
  const roots = scope.within ?? [undefined];
  const found = await Promise.all(
    roots.map((ancestorId) =>
      selectCandidates(deps.db, {
        filter: { ancestorId },
        asker: { agent: null, capabilities: [] },
        roles: defaultRoles(false),
        containers: false,
        startable: false,
        ranking: "priority",
        limit: Math.min(NEXT_SHOWN, input.limit),
      }),
    ),
  );
  const heads = await readHeads(deps.db, found.flat());
  return [...heads.values()]
    .toSorted((a, b) => a.rank - b.rank || a.created_at.getTime() - b.created_at.getTime())
    .slice(0, NEXT_SHOWN)
    .map((head) => ({
      item_id: head.item_id,
      title: head.title,
      role: head.role,
      priority: head.priority,
      at: head.created_at,
      agent: null,
      what: head.overdue ? "overdue" : null,
      root_title: null,
    }));
}
