import { describe, expect, it } from "vitest";
import { TRIGGERS } from "../../../services/core/roles.ts";
import { apply, NOW, refusalOf, worldOf } from "./advance-world.ts";

const POLICIES = { fragile: { maxAttempts: 2 } } as const;

describe("an attempt that fails", () => {
  it("counts and backs off, longer each time, when it was the item's fault", () => {
    const world = worldOf({ a: { role: "work" } });
    apply(world, "a", "fail");
    expect(world.get("a")).toMatchObject({ role: "queue", attempts: 1, availableAt: NOW + 2_500 });
    apply(world, "a", "start");
    apply(world, "a", "fail");
    expect(world.get("a")).toMatchObject({ attempts: 2, availableAt: NOW + 10_000 });
  });

  it("backs off and does not count when it was the environment's", () => {
    const world = worldOf({ a: { role: "work", attempts: 4 } });
    apply(world, "a", "fail", { failure: { class: "environment", reason: "no network" } });
    expect(world.get("a")).toMatchObject({ role: "queue", attempts: 4, dead: false });
    expect(world.get("a").availableAt).toBeGreaterThan(NOW);
  });

  it("leaves a review in review", () => {
    const world = worldOf({ a: { role: "review" } });
    apply(world, "a", "fail");
    expect(world.get("a")).toMatchObject({ role: "review", attempts: 1 });
  });

  it("wears the label that the caller gave it, unless it is dead", () => {
    const world = worldOf({ a: { role: "work", type: "fragile" } }, [], POLICIES);
    apply(world, "a", "fail", { label: "flaky" });
    expect(world.get("a").statusLabel).toBe("flaky");
    apply(world, "a", "start");
    apply(world, "a", "fail", { label: "flaky" });
    expect(world.get("a").statusLabel).toBe("dead");
  });

  it("is the last one past the limit: dead, blocked, and what waits for it goes on waiting [B53]", () => {
    const world = worldOf(
      { a: { role: "work", type: "fragile", attempts: 1 }, next: {} },
      [{ from: "a", to: "next", threshold: "work" }],
      POLICIES,
    );
    expect(world.get("next").blockers).toBe(0);
    apply(world, "a", "fail", { failure: { class: "item", reason: "segfault" } });
    expect(world.get("a")).toMatchObject({
      role: "blocked",
      statusLabel: "dead",
      dead: true,
      previousRole: "queue",
    });
    expect(world.get("next").blockers).toBe(1);
    expect(world.events.map((event) => event.type)).toContain("item.dead");
  });
});

describe("a dead item", () => {
  const dead = () => worldOf({ a: { role: "blocked", statusLabel: "dead", dead: true, attempts: 5 } });

  it("is not brought back by an agent, whatever the trigger", () => {
    for (const trigger of TRIGGERS.filter((one) => one !== "cancel")) {
      expect(refusalOf(dead(), "a", trigger), `trigger ${trigger}`).toBe("item_dead");
    }
  });

  it("is brought back by an operator, with a new count", () => {
    const world = dead();
    apply(world, "a", "resume", { operator: true });
    expect(world.get("a")).toMatchObject({ role: "queue", dead: false, attempts: 0, statusLabel: null });
  });

  it("can be cancelled by an agent, and reopened by an operator only: or it would go on failing for ever", () => {
    const world = dead();
    apply(world, "a", "cancel");
    expect(refusalOf(world, "a", "reopen")).toBe("item_dead");
    apply(world, "a", "reopen", { operator: true });
    expect(world.get("a")).toMatchObject({ role: "queue", dead: false });
  });
});
