/** Reports: what stands still, what is late, what was done; and a part that fails is named. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { GetReportOutput } from "../../../services/contract/operations/get-report.ts";
import { testCaller } from "../../support/engine.ts";
import { answerTokens } from "../../support/answer-tokens.ts";
import { plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";
import { describeDesk } from "../operating/desk.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describeDesk("reports", (desk) => {
  const named = (report: GetReportOutput, name: string) => {
    const section = report.sections.find((one) => one.name === name);
    if (section === undefined) throw new Error(`no section ${name}`);
    return section.entries.map((entry) => [entry.title, entry.what ?? null]);
  };
  const plant = (title: string, more: Parameters<typeof plantItem>[1] = {}) =>
    plantItem(desk().database.db, { title, ...more });
  const due = (itemId: string, hours: number) =>
    sql`update items set due_at = muster_now() + ${hours} * interval '1 hour' where id = ${itemId}`.execute(
      desk().database.db,
    );

  it("stale: stalled is judged by progress, and work that nobody is on counts at once", async () => {
    await plant("queued");
    const kept = await plant("kept alive");
    const moving = await plant("moving");
    await desk().claim("ada", { itemId: kept, start: true, ttlSeconds: 86_400 });
    await desk().claim("bob", { itemId: moving, start: true, ttlSeconds: 86_400 });
    await plant("dropped", { role: "work" });
    expect(named(await desk().ask("get_report", { report: "stale" }), "stalled")).toEqual([
      ["dropped", "unclaimed"],
    ]);
    await desk().database.advance(4 * HOUR_MS);
    // A heartbeat is no progress; a note is.
    await desk().engine.call("manage_notes", {
      operation: "upsert",
      notes: [{ itemId: moving, key: "result", role: "work", body: "half of it" }],
    });
    const report = await desk().ask("get_report", { report: "stale", stalledHours: 3 });
    // The longest still comes first.
    expect(named(report, "stalled")).toHaveLength(2);
    expect(Object.fromEntries(named(report, "stalled"))).toEqual({
      dropped: "unclaimed",
      "kept alive": "no_progress",
    });
    await desk().database.advance(DAY_MS);
    const later = await desk().ask("get_report", { report: "stale", stalledHours: 48 });
    expect(named(later, "stalled")).toContainEqual(["moving", "claim_lapsed"]);
  });

  it("stale: names what is overdue, stuck, and ready to close", async () => {
    const [late, blocker, waiting] = [await plant("late"), await plant("blocker"), await plant("waiting")];
    await due(late, -1);
    await plantEdge(desk().database.db, blocker, waiting);
    const parent = await plant("parent", { role: "work" });
    await plant("child", { parentId: parent, role: "terminal" });
    const report = await desk().ask("get_report", { report: "stale" });
    expect(report.degraded).toBeUndefined();
    expect(named(report, "overdue")).toEqual([["late", null]]);
    expect(named(report, "blocked")).toEqual([["waiting", "dependency"]]);
    expect(named(report, "ready to close")).toEqual([["parent", null]]);
  });

  it("overdue: the longest overdue first, then what is due soon; closed items are neither", async () => {
    const [early, late, soon, far] = [
      await plant("early"),
      await plant("late"),
      await plant("soon"),
      await plant("far"),
    ];
    const closed = await plant("closed", { role: "terminal" });
    for (const [itemId, hours] of [
      [late, -1],
      [early, -50],
      [closed, -5],
      [soon, 24],
      [far, 24 * 9],
    ] as const)
      await due(itemId, hours);
    const report = await desk().ask("get_report", { report: "overdue" });
    expect(named(report, "overdue").map(([title]) => title)).toEqual(["early", "late"]);
    expect(named(report, "due soon").map(([title]) => title)).toEqual(["soon"]);
  });

  it("standup: what was done since yesterday, without what was cancelled; what is under way; what comes next", async () => {
    const old = await plant("done long ago");
    await desk().advance({ itemId: old, trigger: "start" });
    await desk().advance({ itemId: old, trigger: "complete" });
    await desk().database.advance(2 * DAY_MS);
    const [done, dropped] = [await plant("done"), await plant("dropped")];
    await desk().advance({ itemId: done, trigger: "start" });
    await desk().advance({ itemId: done, trigger: "complete", summary: "shipped" });
    await desk().advance({ itemId: dropped, trigger: "cancel" });
    const busy = await plant("busy");
    await desk().claim("ada", { itemId: busy, start: true });
    await plant("low", { priority: "low" });
    await plant("high", { priority: "high" });
    const report = await desk().ask("get_report", { report: "standup" });
    expect(named(report, "done")).toEqual([["done", "shipped"]]);
    expect(named(report, "in progress").map(([title]) => title)).toEqual(["busy"]);
    expect(named(report, "next").map(([title]) => title)).toEqual(["high", "low"]);
  });

  it("changelog: done within the days, by root; activity: moves, of one agent if asked", async () => {
    const [shop, site] = [await plant("shop"), await plant("site")];
    for (const [parentId, title] of [
      [shop, "cart"],
      [site, "menu"],
      [shop, "till"],
    ] as const) {
      const itemId = await plant(title, { parentId });
      await desk().claim("ada", { itemId, start: true });
      await desk().advance({ itemId, trigger: "complete" }, "ada");
    }
    const other = await plant("other");
    await desk().claim("bob", { itemId: other, start: true });
    const changelog = await desk().ask("get_report", { report: "changelog", days: 7 });
    const groups = Object.fromEntries(
      changelog.sections.map(({ name, entries }) => [name, entries.map((entry) => entry.title).toSorted()]),
    );
    expect(groups["shop"]).toEqual(expect.arrayContaining(["cart", "till"]));
    expect(groups["site"]).toEqual(expect.arrayContaining(["menu"]));
    const activity = await desk().ask("get_report", { report: "activity", agent: "bob" });
    expect(named(activity, "moves")).toEqual([["other", "start: queue to work"]]);
  });

  it("throughput: counts by day", async () => {
    for (let day = 0; day < 2; day += 1) {
      const itemId = await plant(`of day ${day}`);
      await desk().claim("ada", { itemId, start: true });
      await desk().advance({ itemId, trigger: "complete" }, "ada");
      await desk().database.advance(DAY_MS);
    }
    const { days = [], sections } = await desk().ask("get_report", { report: "throughput" });
    expect(sections).toEqual([]);
    expect(days).toMatchObject([
      { started: 1, done: 1, cancelled: 0, failed: 0 },
      { started: 1, done: 1 },
    ]);
  });

  it("is confined to a subtree, and to what the caller may see", async () => {
    const [mine, theirs] = [await plant("mine"), await plant("theirs")];
    for (const parentId of [mine, theirs]) await plant(`below ${parentId}`, { parentId, role: "work" });
    const below = await desk().ask("get_report", { report: "stale", ancestorId: mine });
    expect(named(below, "stalled")).toEqual([[`below ${mine}`, "unclaimed"]]);
    const access = { ...testCaller().access, scope: [theirs] };
    const seen = (await desk().engine.call("get_report", { report: "stale" }, { access })) as GetReportOutput;
    expect(named(seen, "stalled")).toEqual([[`below ${theirs}`, "unclaimed"]]);
    const nothing = { ...access, scope: [] };
    const unseen = (await desk().engine.call(
      "get_report",
      { report: "standup" },
      { access: nothing },
    )) as GetReportOutput;
    expect(unseen.sections.flatMap(({ entries }) => entries)).toEqual([]);
  });

  it("a section that cannot be read is named, and the others are there [P-42] [F-34]", async () => {
    const { db } = desk().database;
    await plant("busy", { role: "work" });
    await sql`alter table transitions rename to transitions_away`.execute(db);
    try {
      const report = await desk().ask("get_report", { report: "standup" });
      expect(report).toMatchObject({ degraded: true, degradedSections: ["done"] });
      expect(report.sections.map(({ name }) => name)).toEqual(["in progress", "blocked", "next"]);
      expect(named(report, "in progress").map(([title]) => title)).toEqual(["busy"]);
      const throughput = await desk().ask("get_report", { report: "throughput" });
      expect(throughput).toMatchObject({ degraded: true, degradedSections: ["days"] });
      expect(throughput.days).toBeUndefined();
    } finally {
      await sql`alter table transitions_away rename to transitions`.execute(db);
    }
  });

  it("the largest answer fits a model's context", async () => {
    const { db } = desk().database;
    const long = "x".repeat(480);
    await plantGraph(
      db,
      Array.from({ length: 150 }, (_, n) => ({ title: `${long} ${n}`, role: "work" as const })),
      [],
    );
    await sql`update items set due_at = muster_now() - interval '1 hour'`.execute(db);
    const report = await desk().ask("get_report", { report: "stale", limit: 100 });
    expect(report.sections[0]?.hasMore).toBe(true);
    const tokens = await answerTokens(desk().engine, "get_report", { report: "stale", limit: 100 });
    expect(tokens).toBeLessThanOrEqual(25_000);
  });
});
