import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { Brief } from "../../../services/contract/briefs.ts";
import type {
  GetNextItemOutput,
  Recommendation,
} from "../../../services/contract/operations/get-next-item.ts";
import type {
  ChangedReminderOutput,
  ListRemindersOutput,
} from "../../../services/contract/operations/manage-reminders.ts";
import type { ReminderAnswer } from "../../../services/contract/reminders.ts";
import { FULL_ACCESS } from "../../../services/engine/access.ts";
import { worker } from "../../support/engine.ts";
import { describeEachWay, useFleet } from "../claims/engines.ts";
import { eventsOf, fireAll, inSeconds, makeItem, refusalOf } from "./wake-up-desk.ts";

describeEachWay("reminders", (bench) => {
  const manage = async (input: Record<string, unknown>, caller = {}): Promise<ChangedReminderOutput> =>
    (await bench().engine.call("manage_reminders", input, caller)) as ChangedReminderOutput;
  const list = async (filter = {}, caller = {}): Promise<readonly ReminderAnswer[]> => {
    const call = { operation: "list", limit: 100, ...filter };
    return ((await bench().engine.call("manage_reminders", call, caller)) as ListRemindersOutput).reminders;
  };
  const next = async (tag: string, asker = {}): Promise<readonly Recommendation[]> => {
    const call = { tags: tag, limit: 5, ...asker };
    return ((await bench().engine.call("get_next_item", call)) as GetNextItemOutput).recommendations;
  };
  const arm = async (itemId: string, seconds: number, more = {}) =>
    await manage({ operation: "arm", itemId, remindAt: await inSeconds(bench(), seconds), ...more });
  const find = async (reminderId: string): Promise<ReminderAnswer> => {
    const found = (await list()).find((one) => one.reminderId === reminderId);
    if (found === undefined) throw new Error(`no reminder ${reminderId} is listed`);
    return found;
  };

  beforeEach(async () => {
    // What other tests have left must not fire in this one.
    await bench().database.db.deleteFrom("reminders").execute();
  });

  it("need a full instant: a date alone is refused, and nothing is stored [P-13]", async () => {
    const itemId = await makeItem(bench());
    for (const remindAt of ["2030-01-01", "2030-01-01T09:00:00", "2030-02-30T09:00:00Z", "tomorrow"]) {
      expect(await refusalOf(manage({ operation: "arm", itemId, remindAt }))).toBe("invalid_remind_at");
    }
    expect(await list({ itemId })).toEqual([]);
  });

  it("are kept in UTC at the next whole second [P-14]", async () => {
    const itemId = await makeItem(bench());
    const armed = await manage({ operation: "arm", itemId, remindAt: "2030-01-01T10:00:00.250+01:00" });
    expect(armed).toMatchObject({ state: "armed", remindAt: "2030-01-01T09:00:01.000Z", itemId });
  });

  it("fire when their instant has come and not before, with one event [P-15]", async () => {
    const itemId = await makeItem(bench());
    const armed = await arm(itemId, 60, { note: "look again" });
    await bench().database.advance(59_000);
    expect(await fireAll(bench())).toMatchObject({ reminders: 0 });
    await bench().database.advance(2_000);
    expect(await fireAll(bench())).toMatchObject({ reminders: 1 });
    expect(await fireAll(bench())).toMatchObject({ reminders: 0 });
    const { reminderId, remindAt } = armed;
    const told = await eventsOf(bench(), itemId, "item.reminder_due");
    expect(told.map((one) => one.data)).toEqual([
      { reminderId, remindAt: remindAt.replace(".000Z", "Z"), note: "look again" },
    ]);
    expect((await find(reminderId)).state).toBe("fired");
  });

  it("are refused an acknowledgement while armed, take one when fired, and keep its time [P-17]", async () => {
    const { reminderId } = await arm(await makeItem(bench()), 10);
    const acknowledge = () => manage({ operation: "acknowledge", reminderId, actor: worker("w1") });
    expect(await refusalOf(acknowledge())).toBe("reminder_not_fired");
    await bench().database.advance(11_000);
    await fireAll(bench());
    const first = await acknowledge();
    expect(first).toMatchObject({ state: "acknowledged", ackedBy: "w1" });
    await bench().database.advance(5_000);
    expect(await acknowledge()).toMatchObject({ state: "acknowledged", ackedAt: first.ackedAt });
  });

  it("that are armed anew or snoozed have no stamps any more, and fire again [P-18]", async () => {
    const itemId = await makeItem(bench());
    const { reminderId } = await arm(itemId, 10);
    await bench().database.advance(11_000);
    await fireAll(bench());
    await manage({ operation: "acknowledge", reminderId });
    const again = await manage({ operation: "rearm", reminderId, remindAt: await inSeconds(bench(), 10) });
    expect(again.state).toBe("armed");
    expect(again.firedAt).toBeUndefined();
    expect(again.ackedAt).toBeUndefined();
    await bench().database.advance(11_000);
    expect(await fireAll(bench())).toMatchObject({ reminders: 1 });
    const snoozed = await manage({ operation: "snooze", reminderId, forSeconds: 30 });
    expect(snoozed.state).toBe("armed");
    await bench().database.advance(29_000);
    expect(await fireAll(bench())).toMatchObject({ reminders: 0 });
    await bench().database.advance(3_000);
    expect(await fireAll(bench())).toMatchObject({ reminders: 1 });
    expect(await eventsOf(bench(), itemId, "item.reminder_due")).toHaveLength(3);
  });

  it("of deleted items keep no live one waiting, stay armed, and fire after a restore [P-19]", async () => {
    const doomed = await makeItem(bench());
    for (let count = 0; count < 100; count += 1) await arm(doomed, 10);
    const live = await makeItem(bench());
    const last = await arm(live, 20);
    const { trash } = (await bench().engine.call("manage_items", {
      operation: "delete",
      itemIds: [doomed],
    })) as { readonly trash: readonly { readonly trashId: string }[] };
    await bench().database.advance(21_000);
    expect(await bench().engine.engine.fireDue(new AbortController().signal)).toMatchObject({ reminders: 1 });
    expect((await find(last.reminderId)).state).toBe("fired");
    await bench().engine.call("manage_items", {
      operation: "restore",
      trashIds: trash.map((one) => one.trashId),
    });
    expect(await fireAll(bench())).toMatchObject({ reminders: 100 });
  });

  it("that have fired head the next items with their id, whoever holds the item [P-20]", async () => {
    const tag = `t${randomUUID()}`;
    const held = await makeItem(bench(), { tags: tag, priority: "low" });
    const free = await makeItem(bench(), { tags: tag, priority: "high" });
    await bench().engine.call("claim_item", {
      claims: [{ itemId: held }],
      actor: worker("holder"),
      requestId: randomUUID(),
    });
    const { reminderId } = await arm(held, 10, { note: "call back" });
    await bench().database.advance(11_000);
    await fireAll(bench());
    const [first, second] = await next(tag);
    expect(first).toMatchObject({ itemId: held, reminderId, note: "call back" });
    expect(second).toMatchObject({ itemId: free });
    expect(second?.reminderId).toBeUndefined();
    const brief = (await bench().engine.call("get_context", { mode: "brief", itemId: held })) as Brief;
    expect(brief.reminders).toMatchObject([{ reminderId, note: "call back" }]);
    await manage({ operation: "acknowledge", reminderId });
    expect((await next(tag)).map((one) => one.itemId)).toEqual([free]);
  });

  it("are shown to the agent or to the capability that they are for, and hidden once the item is done", async () => {
    const tag = `t${randomUUID()}`;
    const itemId = await makeItem(bench(), { tags: tag });
    const forAgent = await arm(itemId, 10, { toAgent: "ada" });
    const forSkill = await arm(itemId, 10, { toCapability: "deploy" });
    await bench().database.advance(11_000);
    await fireAll(bench());
    const shown = async (asker: Record<string, unknown>) =>
      (await next(tag, asker)).flatMap((one) => one.reminderId ?? []);
    expect(await shown({})).toEqual([]);
    expect(await shown({ agent: "ada" })).toEqual([forAgent.reminderId]);
    expect(await shown({ agent: "bob", capabilities: "deploy,test" })).toEqual([forSkill.reminderId]);
    await bench().engine.call("advance_item", { transitions: [{ itemId, trigger: "cancel" }] });
    expect(await shown({ agent: "ada", capabilities: "deploy" })).toEqual([]);
    expect((await find(forAgent.reminderId)).state).toBe("fired");
  });

  it("move nothing: a blocked item stays where it is when its reminder fires [S34]", async () => {
    const blocker = await makeItem(bench());
    const blocked = await makeItem(bench());
    await bench().engine.call("manage_dependencies", {
      operation: "create",
      dependencies: [{ fromItemId: blocker, toItemId: blocked }],
    });
    const stateOf = async () =>
      await bench()
        .database.db.selectFrom("item_state")
        .selectAll()
        .where("item_id", "=", blocked)
        .executeTakeFirstOrThrow();
    const before = await stateOf();
    await arm(blocked, 10);
    await bench().database.advance(11_000);
    expect(await fireAll(bench())).toMatchObject({ reminders: 1 });
    expect(await stateOf()).toEqual(before);
    const { results } = (await bench().engine.call("advance_item", {
      transitions: [{ itemId: blocked, trigger: "start" }],
    })) as { readonly results: readonly Record<string, unknown>[] };
    expect(results[0]).toMatchObject({ applied: false, errorCode: "dependency_blocked" });
    expect(JSON.stringify(results[0])).toContain(blocker);
  });

  it("are armed once by a call that is repeated, and are gone when disarmed", async () => {
    const itemId = await makeItem(bench());
    const call = { operation: "arm", itemId, remindAt: "2031-01-01T00:00:00Z", requestId: randomUUID() };
    const first = await manage(call);
    expect(await manage(call)).toMatchObject({ reminderId: first.reminderId, replayed: true });
    const { reminderId } = first;
    expect(await manage({ operation: "disarm", reminderId })).toMatchObject({ reminderId, disarmed: true });
    expect(await refusalOf(manage({ operation: "disarm", reminderId }))).toBe("not_found");
  });

  it("outside of a scope are answered like those that are not there", async () => {
    const [mine, other] = [await makeItem(bench()), await makeItem(bench())];
    const { reminderId } = await arm(other, 100);
    const caller = { access: { ...FULL_ACCESS, scope: [mine] } };
    const absent = manage({ operation: "snooze", reminderId: randomUUID(), forSeconds: 5 }, caller);
    expect(await refusalOf(absent)).toBe("not_found");
    expect(await refusalOf(manage({ operation: "snooze", reminderId, forSeconds: 5 }, caller))).toBe(
      "not_found",
    );
    expect(await list({}, caller)).toEqual([]);
  });
});

describe("reminders in a fleet", () => {
  const fleet = useFleet(2);

  it("fire once for two schedulers that look at the same time, and not for an instant that they had before [P-15] [P-16]", async () => {
    const [one, other] = fleet.engines;
    if (one === undefined || other === undefined) throw new Error("a fleet of two has two engines");
    const bench = { database: fleet.database, engine: one };
    const itemId = await makeItem(bench);
    const made: string[] = [];
    for (let count = 0; count < 50; count += 1) {
      const remindAt = await inSeconds(bench, 10);
      const armed = (await one.call("manage_reminders", {
        operation: "arm",
        itemId,
        remindAt,
      })) as ChangedReminderOutput;
      made.push(armed.reminderId);
    }
    await fleet.database.advance(11_000);
    const later = await inSeconds(bench, 3_600);
    // Armed anew in a transaction that is open while both look: it has the row, and they leave it alone.
    await fleet.database.db.transaction().execute(async (tx) => {
      await tx
        .updateTable("reminders")
        .set({ remind_at: later })
        .where("id", "=", made[0] ?? "")
        .execute();
      const signal = new AbortController().signal;
      const reports = await Promise.all([one.engine.fireDue(signal), other.engine.fireDue(signal)]);
      expect(reports.reduce((sum, { reminders }) => sum + reminders, 0)).toBe(49);
    });
    expect(await fireAll(bench)).toMatchObject({ reminders: 0 });
    const told = await eventsOf(bench, itemId, "item.reminder_due");
    expect(told.map(({ data }) => String(data["reminderId"])).toSorted()).toEqual(made.slice(1).toSorted());
  });
});
