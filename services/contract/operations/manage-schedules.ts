/**
 * `manage_schedules`: what is done again and again, at the instants of a cron rule or of an
 * interval: make items or trees, move an item, remind of one. REST and the command line.
 */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, at, id } from "../answers.ts";
import { type AddFault, crossField, refuseMisplaced } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import {
  CATCH_UP_MAX,
  CRON_LENGTH_MAX,
  INTERVAL_MAX_SECONDS,
  INTERVAL_MIN_SECONDS,
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
  SCHEDULE_NAME_LENGTH_MAX,
} from "../limits.ts";
import { fullInstant, reminderShape } from "../reminders.ts";
import { bounded, facts, oneLine } from "../rendering.ts";
import { TRIGGERS } from "../vocabulary.ts";

export const SCHEDULE_ACTIONS = ["create", "advance", "remind"] as const;
const MISFIRES = ["skip", "fire_once", "catch_up"] as const;
const OVERLAPS = ["allow", "skip", "queue"] as const;
const OPERATIONS = ["create", "get", "list", "pause", "resume", "run", "preview", "runs", "delete"] as const;
type Operation = (typeof OPERATIONS)[number];

/** What moves an item, as a template. */
export const advanceTemplate = z.strictObject({
  trigger: z.enum(TRIGGERS),
  summary: z.string().max(2_000).optional(),
});
/** What reminds of an item, as a template. */
export const remindTemplate = z.strictObject(reminderShape);

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    scheduleId: fields.fullId.optional(),
    name: z.string().trim().min(1).max(SCHEDULE_NAME_LENGTH_MAX).optional(),
    action: z.enum(SCHEDULE_ACTIONS).optional().describe("create: what a run does."),
    itemId: fields.itemRef.optional().describe("advance, remind: which item. list: of this item."),
    template: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        "create: a call of create_work_tree. advance: trigger, summary. remind: note, toAgent, toCapability.",
      ),
    cron: z.string().trim().min(1).max(CRON_LENGTH_MAX).optional().describe("Five fields."),
    everySeconds: z.int().min(INTERVAL_MIN_SECONDS).max(INTERVAL_MAX_SECONDS).optional(),
    startsAt: fullInstant.optional().describe("No instant before it; intervals count from it. Now without."),
    timezone: z.string().trim().min(1).max(60).optional().describe("Of the IANA database. UTC without."),
    misfire: z.enum(MISFIRES).optional().describe("Missed instants: fire_once without."),
    catchUpMax: z.int().min(1).max(CATCH_UP_MAX).optional().describe("catch_up: at most so many."),
    overlap: z.enum(OVERLAPS).optional().describe("While the last run's work is open: allow without."),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).optional(),
    offset: z.int().min(0).optional(),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

const RULE_FIELDS = ["cron", "everySeconds", "startsAt", "timezone"];
const CREATE_FIELDS = ["name", "action", "template", "misfire", "catchUpMax", "overlap"];
/** An argument that an operation would ignore is refused. */
const BELONGS: Readonly<Record<string, readonly Operation[]>> = {
  scheduleId: ["get", "pause", "resume", "run", "preview", "runs", "delete"],
  itemId: ["create", "list"],
  ...Object.fromEntries(CREATE_FIELDS.map((name) => [name, ["create"]])),
  ...Object.fromEntries(RULE_FIELDS.map((name) => [name, ["create", "preview"]])),
  limit: ["list", "runs"],
  offset: ["list", "runs"],
};

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  const operation = OPERATIONS.find((one) => one === call.operation);
  if (operation === undefined) return; // The field's own message says so.
  refuseMisplaced(call, operation, BELONGS, add);
  const isStored = call.scheduleId !== undefined;
  if (operation === "create") createRules(call, add);
  else if (operation === "preview" && !isStored) ruleRules(call, add);
  else if (operation !== "list" && !isStored) add(["scheduleId"], `is missing; ${operation} needs it`);
  if (operation === "preview" && isStored && RULE_FIELDS.some((name) => call[name] !== undefined))
    add(["scheduleId"], "cannot be combined with a rule; preview one or the other");
}

function createRules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  for (const name of ["name", "action"])
    if (call[name] === undefined) add([name], "is missing; create needs it");
  ruleRules(call, add);
  if (call.action !== "create" && call.itemId === undefined) add(["itemId"], "is missing: which item");
  if (call.action === "create" && call.itemId !== undefined)
    add(["itemId"], "does not go with action create; the template has parentId or attachTo");
  if (call.action !== "remind" && call.template === undefined) add(["template"], "is missing: what to do");
  if (call.catchUpMax !== undefined && call.misfire !== "catch_up")
    add(["catchUpMax"], "goes with misfire catch_up only");
}

function ruleRules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if ((call.cron === undefined) === (call.everySeconds === undefined))
    add(["cron"], "needs exactly one of cron and everySeconds: when it runs");
}

type Shape = z.output<typeof shape>;
/** A parsed call. */
export type ManageSchedulesInput = Shape & { readonly limit: number; readonly offset: number };
export type ManageSchedulesRequest = z.input<typeof shape>;

const input = shape.transform((call): ManageSchedulesInput => ({
  ...call,
  limit: call.limit ?? LIST_LIMIT_DEFAULT,
  offset: call.offset ?? 0,
}));

const run = answer({
  plannedAt: at,
  outcome: z.enum(["queued", "fired", "skipped", "failed"]),
  /** By hand, and not by the rule. */
  manual: z.boolean().optional(),
  detail: z.string().optional(),
  itemId: id.optional(),
  reminderId: id.optional(),
  ranAt: at,
});
export type ScheduleRun = z.output<typeof run>;

const schedule = answer({
  scheduleId: id,
  name: z.string(),
  action: z.enum(SCHEDULE_ACTIONS),
  itemId: id.optional(),
  template: z.record(z.string(), z.unknown()).optional(),
  cron: z.string().optional(),
  everySeconds: z.int().optional(),
  startsAt: at,
  timezone: z.string(),
  misfire: z.enum(MISFIRES),
  catchUpMax: z.int().optional(),
  overlap: z.enum(OVERLAPS),
  paused: z.boolean(),
  /** Absent while it is paused. */
  nextAt: at.optional(),
  lastRun: run.optional(),
});
export type ScheduleAnswer = z.output<typeof schedule>;

const one = schedule.extend({
  /** What it does was done now, by hand. */
  run: run.optional(),
  /** It is gone. */
  deleted: z.boolean().optional(),
  replayed: z.boolean().optional(),
});
const page = { returned: z.int(), hasMore: z.boolean(), offset: z.int() };
const list = answer({ schedules: z.array(schedule), ...page });
const runs = answer({ scheduleId: id, runs: z.array(run), ...page });
const preview = answer({ timezone: z.string(), instants: z.array(at) });
const output = z.union([one, list, runs, preview]);
export type OneScheduleOutput = z.output<typeof one>;
export type ManageSchedulesOutput = z.output<typeof output>;

function scheduleLine(shown: ScheduleAnswer): string {
  const { scheduleId, action, cron, everySeconds, timezone, nextAt, paused } = shown;
  return `${scheduleId} ${facts({ action, cron, everySeconds, timezone, nextAt, paused })} ${oneLine(shown.name, 80)}`;
}

function runLine({ plannedAt, outcome, itemId, detail }: ScheduleRun): string {
  return `${plannedAt} ${outcome} ${facts({ itemId })} ${oneLine(detail ?? "", 120)}`.trim();
}

function render(result: ManageSchedulesOutput): string {
  if ("schedules" in result)
    return bounded([`${result.returned} schedules`, ...result.schedules.map(scheduleLine)]);
  if ("runs" in result) return bounded([`${result.returned} runs`, ...result.runs.map(runLine)]);
  if ("instants" in result) return bounded([`In ${result.timezone}:`, ...result.instants]);
  return bounded([
    `${result.deleted === true ? "deleted " : ""}${scheduleLine(result)}`,
    result.run && runLine(result.run),
  ]);
}

const READS: ReadonlySet<Operation> = new Set<Operation>(["get", "list", "preview", "runs"]);

export const manageSchedules = defineOperation({
  name: "manage_schedules",
  description: "Do something again and again: make items or trees, move an item, remind of one.",
  input,
  output,
  annotations: writes("Manage schedules", { destructive: true }),
  capability: "write-items",
  capabilitiesFor: ({ operation }) => [READS.has(operation) ? "read" : "write-items"],
  toolsets: [],
  mcp: false,
  render,
});
