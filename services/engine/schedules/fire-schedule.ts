/**
 * One step of a schedule that is due, in one transaction: the schedule is locked, what it plans
 * is done, and the row of the planned instant is stored with it. A process that dies leaves all
 * of it or nothing; of two schedulers the second finds the instant settled.
 */
import { insertRun, type NewRun } from "../../../db/stores/schedule-run-store.ts";
import { type ScheduleRow, setNextAt, tryLockSchedule } from "../../../db/stores/schedule-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { ERRORS, isMusterError } from "../../contract/errors.ts";
import { decideDue, decideOverlap, type DueStep, instantsNeeded } from "../../core/wake-ups/schedule.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { afterCommit, CLAIMABLE, transact, type Wider } from "../writing/transact.ts";
import { latestUpTo, nextAfter, type Rule } from "./calendar.ts";
import { perform } from "./perform.ts";

/** The planned instant was refused what it plans; the next one is another try. */
class RefusedRun extends Error {
  readonly plannedAt: number;
  readonly waited: boolean;

  constructor(plannedAt: number, waited: boolean, cause: Error) {
    super(cause.message, { cause });
    this.name = "RefusedRun";
    this.plannedAt = plannedAt;
    this.waited = waited;
  }
}

interface Stepped {
  readonly moved: boolean;
  readonly world: World | null;
}

const NOTHING: Stepped = { moved: false, world: null };

/** True if it did something: there may be more to do. */
export async function fireSchedule(deps: EngineDeps, id: string): Promise<boolean> {
  try {
    const { moved, world } = await transact(deps, (tx, wider) => step(deps, tx, wider, id));
    if (world !== null) {
      afterCommit(deps, world);
      deps.coordination.wakeUps.publish([CLAIMABLE]);
    }
    return moved;
  } catch (error) {
    if (!(error instanceof RefusedRun)) throw error;
    return await transact(deps, (tx) => recordRefused(tx, id, error));
  }
}

async function step(deps: EngineDeps, tx: Handle, wider: Wider, id: string): Promise<Stepped> {
  const schedule = await tryLockSchedule(tx, id);
  if (schedule === null || schedule.paused) return NOTHING;
  const waited = schedule.queued_at?.getTime() ?? null;
  if (waited !== null && !schedule.open) return await run(deps, tx, wider, schedule, waited, true);
  const decided = decide(schedule);
  if (decided.kind === "none") return NOTHING;
  if (decided.kind === "skip") return await skip(tx, schedule, decided.missed);
  const { plannedAt, missed } = decided;
  if (missed !== null) await skipped(tx, schedule, missed.from, missedText(missed.from, missed.until));
  await setNextAt(tx, id, nextAfter(ruleOf(schedule), plannedAt), false);
  switch (decideOverlap(schedule.overlap, schedule)) {
    case "run":
      return await run(deps, tx, wider, schedule, plannedAt, false);
    case "queue":
      await insertRun(tx, runOf(schedule, plannedAt, { outcome: "queued" }));
      break;
    case "skip":
      await skipped(tx, schedule, plannedAt, "what the last run made is still open");
      break;
    case "queue_full":
      await skipped(tx, schedule, plannedAt, "too many runs wait for their turn");
  }
  return { moved: true, world: null };
}

function decide(schedule: ScheduleRow): DueStep {
  const first = schedule.next_at?.getTime() ?? null;
  const now = schedule.now.getTime();
  if (first === null || first > now) return { kind: "none" };
  const rule = { misfire: schedule.misfire, catchUpMax: schedule.catch_up_max };
  return decideDue(first, latestUpTo(ruleOf(schedule), first, now, instantsNeeded(rule)), rule, now);
}

async function run(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  schedule: ScheduleRow,
  plannedAt: number,
  waited: boolean,
): Promise<Stepped> {
  const performed = await perform(deps, tx, wider, schedule).catch((error: unknown) => {
    // Refused for good, as things are. What may pass by itself is tried again with the next look.
    if (isMusterError(error) && ERRORS[error.code].kind === "permanent")
      throw new RefusedRun(plannedAt, waited, error);
    throw error;
  });
  const { itemId, reminderId, world } = performed;
  const stored = await insertRun(tx, runOf(schedule, plannedAt, { outcome: "fired", itemId, reminderId }));
  if (stored === null) throw new Error(`the instant ${plannedAt} of schedule ${schedule.id} has had its run`);
  return { moved: true, world };
}

async function recordRefused(tx: Handle, id: string, refused: RefusedRun): Promise<boolean> {
  const schedule = await tryLockSchedule(tx, id);
  if (schedule === null || schedule.paused) return false;
  const { plannedAt, waited, message } = refused;
  const stands = waited
    ? schedule.queued_at?.getTime() === plannedAt
    : schedule.next_at !== null && schedule.next_at.getTime() <= plannedAt;
  // Another scheduler has settled it meanwhile.
  if (!stands) return false;
  if (!waited) await setNextAt(tx, id, nextAfter(ruleOf(schedule), plannedAt), false);
  await insertRun(tx, runOf(schedule, plannedAt, { outcome: "failed", detail: message }));
  return true;
}

async function skip(
  tx: Handle,
  schedule: ScheduleRow,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Stepped> {
  await skipped(tx, schedule, from, missedText(from, until));
  await setNextAt(tx, schedule.id, nextAfter(ruleOf(schedule), until), false);
  return { moved: true, world: null };
}

async function skipped(tx: Handle, schedule: ScheduleRow, at: number, detail: string): Promise<void> {
  await insertRun(tx, runOf(schedule, at, { outcome: "skipped", detail }));
}

function missedText(from: number, until: number): string {
  return from === until ? "missed" : `missed, and all until ${new Date(until).toISOString()}`;
}

export function ruleOf(schedule: ScheduleRow): Rule {
  const { cron, every_seconds: everySeconds, starts_at: startsAt, timezone } = schedule;
  return { cron, everySeconds, startsAt: startsAt.getTime(), timezone };
}

export function runOf(
  { id }: ScheduleRow,
  plannedAt: number,
  rest: Partial<NewRun> & Pick<NewRun, "outcome">,
): NewRun {
  return { scheduleId: id, plannedAt, manual: false, detail: null, itemId: null, reminderId: null, ...rest };
}
