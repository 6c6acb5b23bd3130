import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endTenure } from "../../../services/core/tenure.ts";
import { NOBODY } from "../../../services/core/world.ts";
import { apply, rolesOf, worldOf } from "./advance-world.ts";

const LIFECYCLES = {
  manual: { lifecycle: "manual" },
  permanent: { lifecycle: "permanent" },
} as const;

describe("a child that starts", () => {
  it("pulls every queued parent above it to work, and none of them wears done [B13]", () => {
    const world = worldOf({
      root: {},
      mid: { under: "root" },
      low: { under: "mid" },
      leaf: { under: "low" },
    });
    const { cascades } = apply(world, "leaf", "start");
    expect(rolesOf(world, "root", "mid", "low", "leaf")).toBe("root:work mid:work low:work leaf:work");
    expect(cascades.map((event) => [event.itemId, event.applied])).toEqual([
      ["low", true],
      ["mid", true],
      ["root", true],
    ]);
    expect(world.get("root").statusLabel).toBe("in-progress");
  });

  it("stops below a parent that is in work already", () => {
    const world = worldOf({ root: {}, mid: { under: "root", role: "work" }, leaf: { under: "mid" } });
    expect(apply(world, "leaf", "start").cascades).toEqual([]);
    expect(world.get("root").role).toBe("queue");
  });

  it("leaves a blocked parent alone", () => {
    const world = worldOf({ root: {}, mid: { under: "root", role: "blocked" }, leaf: { under: "mid" } });
    apply(world, "leaf", "start");
    expect(rolesOf(world, "root", "mid")).toBe("root:queue mid:blocked");
  });

  it("does not pull a parent that waits for a dependency, and says so [B30]", () => {
    const world = worldOf({ before: {}, root: {}, leaf: { under: "root" } }, [
      { from: "before", to: "root" },
    ]);
    const { cascades } = apply(world, "leaf", "start");
    expect(world.get("root").role).toBe("queue");
    expect(cascades).toEqual([
      { itemId: "root", previousRole: "queue", targetRole: "work", applied: false, dependencyBlocked: true },
    ]);
  });

  it.each(["manual", "permanent"])("leaves a %s parent alone [B34]", (type) => {
    const world = worldOf({ root: {}, mid: { under: "root", type }, leaf: { under: "mid" } }, [], LIFECYCLES);
    apply(world, "leaf", "start");
    expect(rolesOf(world, "root", "mid")).toBe("root:queue mid:queue");
  });

  it("pulls parents on resume into work as well", () => {
    const world = worldOf({ root: {}, leaf: { under: "root", role: "blocked", previousRole: "work" } });
    apply(world, "leaf", "resume");
    expect(world.get("root").role).toBe("work");
  });
});

describe("the last child that ends", () => {
  it("closes its parent, and so on upward [B27]", () => {
    const world = worldOf({
      root: { role: "work" },
      mid: { under: "root", role: "work" },
      one: { under: "mid", role: "terminal" },
      two: { under: "mid", role: "work" },
    });
    const { cascades } = apply(world, "two", "complete");
    expect(rolesOf(world, "mid", "root")).toBe("mid:terminal root:terminal");
    expect(cascades.map((event) => event.itemId)).toEqual(["mid", "root"]);
    expect(world.transitions.map((row) => row.trigger)).toEqual(["complete", "cascade", "cascade"]);
  });

  it("closes nothing while a sibling is open", () => {
    const world = worldOf({
      root: { role: "work" },
      one: { under: "root" },
      two: { under: "root", role: "work" },
    });
    expect(apply(world, "two", "complete").cascades).toEqual([]);
    expect(world.get("root")).toMatchObject({ role: "work", openChildren: 1, doneChildren: 1 });
  });

  it.each(["manual", "permanent"])("never closes a %s parent [B34]", (type) => {
    const world = worldOf({ root: { type, role: "work" }, leaf: { under: "root" } }, [], LIFECYCLES);
    expect(apply(world, "leaf", "complete").cascades).toEqual([]);
    expect(world.get("root").role).toBe("work");
  });

  it("does not close a blocked parent, and says so [B30]", () => {
    const world = worldOf({ root: { role: "blocked" }, leaf: { under: "root" } });
    expect(apply(world, "leaf", "complete").cascades).toMatchObject([{ applied: false, roleBlocked: true }]);
    expect(world.get("root").role).toBe("blocked");
  });

  it("does not close a parent that waits for a dependency, and says so [B30]", () => {
    const world = worldOf({ before: {}, root: {}, leaf: { under: "root" } }, [
      { from: "before", to: "root" },
    ]);
    expect(apply(world, "leaf", "complete").cascades).toMatchObject([
      { applied: false, dependencyBlocked: true },
    ]);
    expect(world.get("root").role).toBe("queue");
  });

  it("reports what a closed parent unblocks", () => {
    const world = worldOf({ root: {}, leaf: { under: "root" }, next: {} }, [{ from: "root", to: "next" }]);
    expect(apply(world, "leaf", "complete").unblocked).toEqual(["next"]);
    expect(world.get("next").blockers).toBe(0);
  });
});

describe("a parent that somebody holds", () => {
  const held = () =>
    worldOf({
      root: { role: "work" },
      mid: { under: "root", role: "work", claim: { agent: "ann" } },
      leaf: { under: "mid", role: "work", claim: { agent: "bob" } },
    });

  it("is not closed under its holder, and closes with the parents above when that claim ends", () => {
    const world = held();
    expect(apply(world, "leaf", "complete", { agent: "bob" }).cascades).toMatchObject([
      { itemId: "mid", applied: false, held: true },
    ]);
    expect(world.get("mid")).toMatchObject({ role: "work", closeWithheld: true, claim: { agent: "ann" } });

    const report = endTenure(world, "mid", { reason: "released", requeue: true, detail: null, by: NOBODY });
    expect(report.requeued).toBe(false);
    expect(rolesOf(world, "mid", "root")).toBe("mid:terminal root:terminal");
    expect(world.get("mid").closeWithheld).toBe(false);
  });

  it("closes when that claim expires, and that is no bad end", () => {
    const world = held();
    apply(world, "leaf", "complete", { agent: "bob" });
    endTenure(world, "mid", { reason: "expired", requeue: true, detail: null, by: NOBODY });
    expect(world.get("mid")).toMatchObject({ role: "terminal", outcome: "done", attempts: 0 });
  });

  it("closes when its holder hands it back with requeue", () => {
    const world = held();
    apply(world, "leaf", "complete", { agent: "bob" });
    const { cascades } = apply(world, "mid", "requeue", { agent: "ann" });
    expect(rolesOf(world, "mid", "root")).toBe("mid:terminal root:terminal");
    expect(cascades.map((event) => event.itemId)).toEqual(["mid", "root"]);
  });

  it("stays open when its holder says that the attempt failed", () => {
    const world = held();
    apply(world, "leaf", "complete", { agent: "bob" });
    apply(world, "mid", "fail", { agent: "ann" });
    expect(world.get("mid")).toMatchObject({ role: "queue", closeWithheld: false, claim: null });
    expect(world.get("root").role).toBe("work");
  });

  it("is not closed any more once a child is open again", () => {
    const world = held();
    apply(world, "leaf", "complete", { agent: "bob" });
    apply(world, "leaf", "reopen", { agent: "bob" });
    endTenure(world, "mid", { reason: "released", requeue: true, detail: null, by: NOBODY });
    expect(world.get("mid")).toMatchObject({ role: "work", closeWithheld: false, openChildren: 1 });
  });

  it("closes at once when its own holder ends the last child", () => {
    const world = worldOf({ root: { role: "work", claim: { agent: "ann" } }, leaf: { under: "root" } });
    expect(apply(world, "leaf", "complete", { agent: "ann" }).cascades).toMatchObject([{ applied: true }]);
    expect(world.get("root")).toMatchObject({ role: "terminal", claim: null, fence: 2 });
    expect(world.ended).toEqual([
      { itemId: "root", fence: 1, reason: "completed", detail: null, failure: null },
    ]);
  });

  it("is not closed by the same name in another session", () => {
    const world = worldOf({ root: { role: "work", claim: { agent: "ann" } }, leaf: { under: "root" } });
    apply(world, "leaf", "complete", { agent: "ann", session: "ann-2" });
    expect(world.get("root")).toMatchObject({ role: "work", closeWithheld: true });
  });
});

describe("a child that opens again", () => {
  it("opens the parents above it into work, without their done label [B10]", () => {
    const done = { role: "terminal", statusLabel: "done" } as const;
    const world = worldOf({ root: done, mid: { under: "root", ...done }, leaf: { under: "mid", ...done } });
    apply(world, "leaf", "reopen");
    expect(rolesOf(world, "root", "mid", "leaf")).toBe("root:work mid:work leaf:queue");
    expect(world.get("mid")).toMatchObject({
      statusLabel: "in-progress",
      outcome: null,
      openChildren: 1,
      doneChildren: 0,
    });
  });

  it.each(["manual", "permanent"])("leaves a %s parent closed, and stays closed with it [B10]", (type) => {
    const world = worldOf(
      { root: { type, role: "terminal" }, leaf: { under: "root", role: "terminal" } },
      [],
      LIFECYCLES,
    );
    expect(() => apply(world, "leaf", "reopen")).toThrow("parent_closed");
    expect(rolesOf(world, "root", "leaf")).toBe("root:terminal leaf:terminal");
  });

  it("makes what waited for a reopened parent wait again", () => {
    const world = worldOf(
      { root: { role: "terminal" }, leaf: { under: "root", role: "terminal" }, next: {} },
      [{ from: "root", to: "next" }],
    );
    expect(world.get("next").blockers).toBe(0);
    apply(world, "leaf", "reopen");
    expect(world.get("next").blockers).toBe(1);
  });
});

describe("the outcome of a container", () => {
  it("is cancelled, and says so, only if no child was done", () => {
    const world = worldOf({ root: {}, one: { under: "root" }, two: { under: "root" } });
    apply(world, "one", "cancel");
    apply(world, "two", "cancel");
    expect(world.get("root")).toMatchObject({
      role: "terminal",
      outcome: "cancelled",
      statusLabel: "cancelled",
    });
  });

  it("is the same whatever order its children end in", () => {
    const endings = fc.array(fc.constantFrom("complete" as const, "cancel" as const), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(endings, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (triggers, keys) => {
        const world = worldOf({
          root: {},
          mid: { under: "root" },
          ...Object.fromEntries(triggers.map((_, n) => [`c${n}`, { under: "mid" }])),
        });
        const order = triggers.map((trigger, n) => ({ trigger, n, key: keys[n] ?? 0 }));
        for (const { trigger, n } of order.toSorted((a, b) => a.key - b.key)) apply(world, `c${n}`, trigger);
        const outcome = triggers.includes("complete") ? "done" : "cancelled";
        expect(world.get("mid")).toMatchObject({ role: "terminal", outcome, openChildren: 0 });
        expect(world.get("root")).toMatchObject({ role: "terminal", outcome });
      }),
    );
  });
});
