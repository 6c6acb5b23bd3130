/** `manage_schedules`: schedules are made, looked at, paused, run by hand and taken away. */
import { randomUUID } from "node:crypto";
import { insertRun, listRuns } from "../../../db/stores/schedule-run-store.ts";
import {
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  lockSchedule,
  type ScheduleRow,
  setNextAt,
} from "../../../db/stores/schedule-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import type {
  ManageSchedulesInput,
  ManageSchedulesOutput,
  OneScheduleOutput,
} from "../../contract/operations/manage-schedules.ts";
import { upToSecond } from "../../core/wake-ups/reminder.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { afterCommit, CLAIMABLE, transact, type Wider } from "../writing/transact.ts";
import { type Answered, describeCall, once, type WriteCall } from "../writing/write-call.ts";
import { checkRule, nextAfter, type Rule, upcoming } from "./calendar.ts";
import { ruleOf, runOf } from "./fire-schedule.ts";
import { requireForAction, resolveTemplate } from "./new-schedule.ts";
import { perform } from "./perform.ts";
import { toRunAnswer, toScheduleAnswer } from "./schedule-answers.ts";

/** Instants that a preview shows. */
const PREVIEWED = 10;

type Scope = readonly string[] | null;
type Changed = Omit<OneScheduleOutput, "replayed">;

export async function manageSchedules(
  deps: EngineDeps,
  input: ManageSchedulesInput,
  caller: Caller,
): Promise<ManageSchedulesOutput> {
  const { scope } = caller.access;
  const { limit, offset } = input;
  switch (input.operation) {
    case "list": {
      const itemId = input.itemId === undefined ? null : await requireItem(deps.db, input.itemId, caller);
      const rows = await listSchedules(deps.db, itemId, scope, limit + 1, offset);
      const schedules = rows.slice(0, limit).map(toScheduleAnswer);
      return { schedules, returned: schedules.length, hasMore: rows.length > limit, offset };
    }
    case "runs": {
      const { id } = await need(deps.db, input, scope);
      const rows = await listRuns(deps.db, id, limit + 1, offset);
      const runs = rows.slice(0, limit).map(toRunAnswer);
      return { scheduleId: id, runs, returned: runs.length, hasMore: rows.length > limit, offset };
    }
    case "get": {
      const row = await need(deps.db, input, scope);
      const [last] = await listRuns(deps.db, row.id, 1, 0);
      return { ...toScheduleAnswer(row), ...(last === undefined ? {} : { lastRun: toRunAnswer(last) }) };
    }
    case "preview":
      return await preview(deps, input, scope);
    default:
      return await change(deps, input, caller);
  }
}

async function need(
  handle: Handle,
  { scheduleId = "" }: ManageSchedulesInput,
  scope: Scope,
): Promise<ScheduleRow> {
  const row = await findSchedule(handle, scheduleId, scope);
  if (row === null) throw noSuchSchedule(scheduleId);
  return row;
}

async function preview(
  deps: EngineDeps,
  input: ManageSchedulesInput,
  scope: Scope,
): Promise<ManageSchedulesOutput> {
  const now = await deps.time.now();
  const rule =
    input.scheduleId === undefined ? ruleFrom(input, now) : ruleOf(await need(deps.db, input, scope));
  checkRule(rule);
  const instants = upcoming(rule, now, PREVIEWED).map((at) => new Date(at).toISOString());
  return { timezone: rule.timezone, instants };
}

function ruleFrom(input: ManageSchedulesInput, now: number): Rule {
  const { cron = null, everySeconds = null, startsAt, timezone = "UTC" } = input;
  return { cron, everySeconds, startsAt: upToSecond(startsAt?.getTime() ?? now), timezone };
}

async function change(
  deps: EngineDeps,
  input: ManageSchedulesInput,
  caller: Caller,
): Promise<ManageSchedulesOutput> {
  const call = describeCall("manage_schedules", input, caller);
  const { scope } = caller.access;
  const id = input.scheduleId ?? randomUUID();
  const template = input.operation === "create" ? await resolveTemplate(deps, input, caller) : null;
  const now = await deps.time.now();
  let world: World | null = null;
  const { answer, replayed } = await transact(deps, async (tx, wider): Promise<Answered<Changed>> => {
    world = null;
    return await once<Changed>(call, tx, "all", async () => {
      const targetId = null;
      if (template !== null)
        return { answer: await create(tx, call, input, { ...template, id }, now), targetId };
      const row = await lockSchedule(tx, id, scope);
      if (row === null) throw noSuchSchedule(id);
      if (input.operation !== "run") return { answer: await settle(tx, row, input.operation), targetId };
      requireForAction(caller, row.action);
      const ran = await runNow(deps, tx, wider, row);
      world = ran.world;
      return { answer: ran.answer, targetId };
    });
  });
  if (world !== null) {
    afterCommit(deps, world);
    deps.coordination.wakeUps.publish([CLAIMABLE]);
  }
  return { ...answer, ...(replayed ? { replayed } : {}) };
}

interface Placed {
  readonly id: string;
  readonly itemId: string | null;
  readonly template: Record<string, unknown>;
}

async function create(
  tx: Handle,
  call: WriteCall,
  input: ManageSchedulesInput,
  { id, itemId, template }: Placed,
  now: number,
): Promise<Changed> {
  const rule = ruleFrom(input, now);
  checkRule(rule);
  const { name = "", action = "create", misfire = "fire_once", catchUpMax = 1, overlap = "allow" } = input;
  const { cron, everySeconds, startsAt, timezone } = rule;
  const made = { id, name, action, template, cron, timezone, misfire, catchUpMax, overlap, startsAt };
  const nextAt = nextAfter(rule, now);
  await insertSchedule(tx, { ...made, item_id: itemId, every_seconds: everySeconds, nextAt }, call.author);
  return toScheduleAnswer(await need(tx, { ...input, scheduleId: id }, null));
}

async function settle(
  tx: Handle,
  row: ScheduleRow,
  operation: ManageSchedulesInput["operation"],
): Promise<Changed> {
  if (operation === "delete") {
    await deleteSchedule(tx, row.id);
    return { ...toScheduleAnswer(row), deleted: true };
  }
  const paused = operation === "pause";
  if (paused !== row.paused) {
    // What was planned during a pause was not missed: it begins again with what comes after now.
    const next = paused ? null : nextAfter(ruleOf(row), row.now.getTime());
    await setNextAt(tx, row.id, next, paused);
  }
  return toScheduleAnswer((await findSchedule(tx, row.id, null)) ?? row);
}

/** Beside the rule: the instants that it plans stay what they are, and so does what waits. */
async function runNow(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  row: ScheduleRow,
): Promise<{ readonly world: World | null; readonly answer: Changed }> {
  const { world, itemId, reminderId } = await perform(deps, tx, wider, row);
  const now = row.now.getTime();
  // Never the instant of a planned run, which is a whole second.
  const plannedAt = now % 1000 === 0 ? now + 1 : now;
  const run = { outcome: "fired", manual: true, itemId, reminderId } as const;
  const stored = await insertRun(tx, runOf(row, plannedAt, run));
  if (stored === null)
    throw fault("CONFLICT_ERROR", "it was run in this very millisecond", { hint: "Look at its runs." });
  return { world, answer: { ...toScheduleAnswer(row), run: toRunAnswer(stored) } };
}

function noSuchSchedule(id: string): MusterError {
  return fault("not_found", `there is no schedule ${id}`, {
    hint: "List the schedules to see which there are.",
  });
}
