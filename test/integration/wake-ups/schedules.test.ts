import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type {
  OneScheduleOutput,
  ScheduleRun,
} from "../../../services/contract/operations/manage-schedules.ts";
import type { Bench } from "../claims/engines.ts";
import { describeEachWay, useFleet } from "../claims/engines.ts";
import { eventsOf, fireAll, inSeconds, makeItem, refusalOf } from "./wake-up-desk.ts";

const MINUTE_MS = 60_000;

async function manage(bench: Bench, input: Record<string, unknown>): Promise<OneScheduleOutput> {
  return (await bench.engine.call("manage_schedules", input)) as OneScheduleOutput;
}

/** One that makes items with a title of its own every minute, the first in a minute. */
async function everyMinute(bench: Bench, fields = {}): Promise<{ id: string; title: string }> {
  const title = `made ${randomUUID()}`;
  const { scheduleId } = await manage(bench, {
    operation: "create",
    name: "minutely",
    action: "create",
    template: { root: { title } },
    everySeconds: 60,
    startsAt: await inSeconds(bench, 60),
    ...fields,
  });
  return { id: scheduleId, title };
}

async function made({ database }: Bench, title: string): Promise<string[]> {
  const rows = await database.db.selectFrom("items").select("id").where("title", "=", title).execute();
  return rows.map((row) => row.id);
}

async function runsOf(bench: Bench, scheduleId: string): Promise<readonly ScheduleRun[]> {
  const { runs } = (await bench.engine.call("manage_schedules", { operation: "runs", scheduleId })) as {
    readonly runs: readonly ScheduleRun[];
  };
  return runs.toReversed();
}

describeEachWay("schedules", (bench) => {
  const outcomes = async (id: string) => (await runsOf(bench(), id)).map((run) => run.outcome);

  beforeEach(async () => {
    // What other tests have left must not fire in this one.
    await bench().database.db.deleteFrom("schedules").execute();
  });

  it("run at each planned instant once, and not before", async () => {
    const { id, title } = await everyMinute(bench());
    await bench().database.advance(MINUTE_MS - 2_000);
    expect(await fireAll(bench())).toMatchObject({ schedules: 0 });
    await bench().database.advance(4_000);
    await fireAll(bench());
    await fireAll(bench());
    const [itemId] = await made(bench(), title);
    expect(await made(bench(), title)).toHaveLength(1);
    expect(await eventsOf(bench(), itemId ?? "", "schedule.fired")).toHaveLength(1);
    await bench().database.advance(MINUTE_MS);
    await fireAll(bench());
    expect(await outcomes(id)).toEqual(["fired", "fired"]);
  });

  it("that nobody was there for run once with fire_once [F-26]", async () => {
    const { title, id } = await everyMinute(bench());
    await bench().database.advance(10 * MINUTE_MS + 35_000);
    await fireAll(bench());
    expect(await made(bench(), title)).toHaveLength(1);
    expect(await outcomes(id)).toEqual(["skipped", "fired"]);
  });

  it("that nobody was there for make up for the last few with catch_up, and for none with skip", async () => {
    const caught = await everyMinute(bench(), { misfire: "catch_up", catchUpMax: 3 });
    const left = await everyMinute(bench(), { misfire: "skip" });
    await bench().database.advance(10 * MINUTE_MS + 35_000);
    await fireAll(bench());
    expect(await made(bench(), caught.title)).toHaveLength(3);
    expect(await made(bench(), left.title)).toHaveLength(0);
  });

  it("wait with overlap queue until what the last run made is closed, and drop the instant with skip", async () => {
    const queueing = await everyMinute(bench(), { overlap: "queue" });
    const dropping = await everyMinute(bench(), { overlap: "skip" });
    for (let minute = 0; minute < 2; minute += 1) {
      await bench().database.advance(MINUTE_MS + (minute === 0 ? 1_500 : 0));
      await fireAll(bench());
    }
    expect(await outcomes(queueing.id)).toEqual(["fired", "queued"]);
    expect(await outcomes(dropping.id)).toEqual(["fired", "skipped"]);
    const [itemId] = await made(bench(), queueing.title);
    await bench().engine.call("advance_item", { transitions: [{ itemId, trigger: "cancel" }] });
    await fireAll(bench());
    expect(await outcomes(queueing.id)).toEqual(["fired", "fired"]);
  });

  it("move an item, remind of one, and say why a run was refused", async () => {
    const itemId = await makeItem(bench());
    const common = { operation: "create", name: "on an item", itemId, everySeconds: 60 };
    const startsAt = await inSeconds(bench(), 60);
    const start = { action: "advance", template: { trigger: "start" } };
    const moving = await manage(bench(), { ...common, startsAt, ...start });
    const note = { action: "remind", template: { note: "still there?" } };
    await manage(bench(), { ...common, startsAt, ...note });
    await bench().database.advance(MINUTE_MS + 1_500);
    expect(await fireAll(bench())).toMatchObject({ reminders: 1 });
    const state = await bench()
      .database.db.selectFrom("item_state")
      .select("role")
      .where("item_id", "=", itemId)
      .executeTakeFirst();
    expect(state?.role).toBe("work");
    const [due] = await eventsOf(bench(), itemId, "item.reminder_due");
    expect(due?.data["note"]).toBe("still there?");
    await bench().engine.call("advance_item", { transitions: [{ itemId, trigger: "cancel" }] });
    await bench().database.advance(MINUTE_MS);
    await fireAll(bench());
    const [, refused] = await runsOf(bench(), moving.scheduleId);
    expect(refused?.outcome).toBe("failed");
    expect(refused?.detail).not.toBe("");
  });

  it("do nothing while paused, go on with what comes next, and run by hand beside their plan", async () => {
    const { id, title } = await everyMinute(bench());
    expect((await manage(bench(), { operation: "pause", scheduleId: id })).nextAt).toBeUndefined();
    await bench().database.advance(5 * MINUTE_MS);
    await fireAll(bench());
    expect(await made(bench(), title)).toHaveLength(0);
    const byHand = { operation: "run", scheduleId: id, requestId: randomUUID() };
    await manage(bench(), byHand);
    expect((await manage(bench(), byHand)).replayed).toBe(true);
    expect(await made(bench(), title)).toHaveLength(1);
    await manage(bench(), { operation: "resume", scheduleId: id });
    await fireAll(bench());
    expect(await made(bench(), title)).toHaveLength(1);
    await bench().database.advance(MINUTE_MS + 1_000);
    await fireAll(bench());
    expect(await made(bench(), title)).toHaveLength(2);
  });

  it("preview their next ten instants, and refuse what they could never do", async () => {
    const cron = { cron: "30 9 * * MON-FRI", timezone: "Asia/Kolkata" };
    const { instants } = (await bench().engine.call("manage_schedules", {
      operation: "preview",
      ...cron,
    })) as {
      readonly instants: readonly string[];
    };
    expect(instants).toHaveLength(10);
    expect(new Set(instants.map((text) => text.slice(11)))).toEqual(new Set(["04:00:00.000Z"]));
    const local = everyMinute(bench(), { timezone: "Local" });
    expect(await refusalOf(local)).toBe("invalid_timezone");
    const strange = everyMinute(bench(), { template: { root: { title: "x" }, colour: "red" } });
    expect(await refusalOf(strange)).toBe("VALIDATION_ERROR");
  });
});

describe("schedules in a fleet", () => {
  const fleet = useFleet(3);

  it("run each planned instant once, however many schedulers look at the same time [F-27]", async () => {
    const benches = fleet.engines.map((engine) => ({ database: fleet.database, engine }));
    const [first] = benches;
    if (first === undefined) throw new Error("a fleet of three has engines");
    const schedules = [];
    for (let count = 0; count < 5; count += 1)
      schedules.push(await everyMinute(first, { misfire: "catch_up", catchUpMax: 20 }));
    await fleet.database.advance(5 * MINUTE_MS + 1_500);
    await Promise.all(benches.map((bench) => fireAll(bench)));
    await fireAll(first);
    for (const { title } of schedules) expect(await made(first, title)).toHaveLength(5);
  });
});
