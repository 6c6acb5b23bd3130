/** What a run of a schedule does, inside the transaction that stores the run. */
import { randomUUID } from "node:crypto";
import { insertReminder } from "../../../db/stores/reminder-store.ts";
import type { ScheduleRow } from "../../../db/stores/schedule-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { createWorkTree, type CreateWorkTreeInput } from "../../contract/operations/create-work-tree.ts";
import { advanceTemplate, remindTemplate } from "../../contract/operations/manage-schedules.ts";
import { parseInput } from "../../contract/parse.ts";
import { decideAdvance } from "../../core/advance.ts";
import { upToSecond } from "../../core/wake-ups/reminder.ts";
import type { World } from "../../core/world.ts";
import { refusalElement } from "../advance/refusal.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { FULL_ACCESS } from "../access.ts";
import { plantTree } from "../trees/plant-tree.ts";
import { lockPart, saveWorld, type Wider } from "../writing/transact.ts";
import { describeCall, type WriteCall, writerOf } from "../writing/write-call.ts";

export interface Performed {
  readonly world: World | null;
  readonly itemId: string | null;
  readonly reminderId: string | null;
}

/** What a schedule makes was let by whoever made the schedule, who may be gone by now. */
const NOBODY_ASKS: Caller = {
  access: FULL_ACCESS,
  credential: null,
  session: null,
  client: null,
  requestId: "schedule",
  signal: new AbortController().signal,
};

function callOf(schedule: ScheduleRow, operation: string): WriteCall {
  const actor = { id: `schedule:${schedule.id}`, kind: "external" };
  return describeCall(operation, { actor }, NOBODY_ASKS);
}

/** @throws MusterError if what is planned is refused. */
export async function perform(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  schedule: ScheduleRow,
): Promise<Performed> {
  switch (schedule.action) {
    case "create":
      return await create(deps, tx, wider, schedule);
    case "advance":
      return await advance(deps, tx, wider, schedule);
    case "remind":
      return await remind(tx, schedule);
  }
}

/** What a template asks for. @throws MusterError if it is no call of `create_work_tree`. */
export function readTree(template: Readonly<Record<string, unknown>>): CreateWorkTreeInput {
  return parseInput(createWorkTree, template);
}

async function create(deps: EngineDeps, tx: Handle, wider: Wider, schedule: ScheduleRow): Promise<Performed> {
  const input = readTree(schedule.template);
  const call = callOf(schedule, "create_work_tree");
  const planting = { input, above: schedule.item_id, documentRoot: input.docRef?.rootId ?? null };
  const { world, answer } = await plantTree(deps, call, tx, wider, planting);
  return { world, itemId: answer.root.id, reminderId: null };
}

async function advance(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  schedule: ScheduleRow,
): Promise<Performed> {
  const itemId = schedule.item_id ?? "";
  const { trigger, summary = null } = advanceTemplate.parse(schedule.template);
  const call = callOf(schedule, "advance_item");
  const moving = { items: new Set([itemId]), enters: true };
  const world = await lockPart(deps, tx, wider, { closing: [itemId] }, moving);
  if (world.find(itemId) === undefined) throw fault("item_not_found", `no item has the id ${itemId}`);
  const verdict = decideAdvance(
    world,
    {
      itemId,
      trigger,
      summary,
      label: null,
      writer: writerOf(call),
      by: call.author,
      failure: { class: "item", reason: null },
      operator: false,
      random: deps.random(),
    },
    { now: world.now, seenDead: false, latestEnd: null, identity: deps.settings.identity },
  );
  if (verdict.kind === "refused") {
    const { refusal } = verdict;
    const { error } = refusalElement(itemId, trigger, refusal, [], deps.settings.onCancelled);
    throw fault(refusal.code === "strange_credential" ? "validation_failed" : refusal.code, String(error));
  }
  await saveWorld(tx, world);
  return { world, itemId, reminderId: null };
}

async function remind(tx: Handle, schedule: ScheduleRow): Promise<Performed> {
  const itemId = schedule.item_id ?? "";
  const { note = null, toAgent = null, toCapability = null } = remindTemplate.parse(schedule.template);
  const id = randomUUID();
  const { author } = callOf(schedule, "manage_reminders");
  // Due already: the loop that runs this fires it next.
  const remindAt = upToSecond(schedule.now.getTime() - 1_000);
  const made = { id, itemId, remindAt, note, toAgent, toCapability, scheduleId: schedule.id };
  if (!(await insertReminder(tx, made, author, null)))
    throw fault("item_not_found", `no item has the id ${itemId}`);
  return { world: null, itemId, reminderId: id };
}
