import { describe, expect, it } from "vitest";
import {
  isForward,
  labelAfter,
  reaches,
  resolveTransition,
  type ResumableRole,
  ROLES,
  type Role,
  type Trigger,
  TRIGGERS,
} from "../../../services/core/roles.ts";

/** Where each trigger leads from each role; `-` is refused. Roles in the order of the columns. */
const COLUMNS = ["queue", "work", "review", "blocked", "terminal"] as const;
const TABLE: Readonly<Record<Trigger, string>> = {
  start: "work      done      done    -       -",
  complete: "done      done      done    -       -",
  block: "blocked   blocked   blocked -       -",
  hold: "blocked   blocked   blocked -       -",
  resume: "-         -         -       work    -",
  cancel: "cancelled cancelled cancelled cancelled -",
  reopen: "-         -         -       -       queue",
  requeue: "-         queue     -       -       -",
  rework: "-         -         work    -       -",
  fail: "-         queue     review  -       -",
};

function expectedOf(trigger: Trigger, role: Role): { role: string; outcome: string | null } | null {
  const cell = TABLE[trigger].split(/ +/)[COLUMNS.indexOf(role)] ?? "-";
  if (cell === "-") return null;
  return cell === "done" || cell === "cancelled"
    ? { role: "terminal", outcome: cell }
    : { role: cell, outcome: null };
}

function subject(role: Role, previousRole: ResumableRole | null = null, hasReviewPhase = false) {
  return {
    role,
    previousRole: previousRole ?? (role === "blocked" ? ("work" as const) : null),
    hasReviewPhase,
  };
}

describe("roles and triggers", () => {
  const cells = TRIGGERS.flatMap((trigger) => ROLES.map((role) => ({ trigger, role })));

  it.each(cells)("$trigger on an item in $role does what the table says", ({ trigger, role }) => {
    const resolution = resolveTransition(subject(role), trigger);
    const expected = expectedOf(trigger, role);
    if (expected === null) expect(resolution.kind).toBe("refused");
    else expect(resolution).toEqual({ kind: "to", ...expected });
  });

  it("start on an item in work whose schema has a review phase leads to review [B2]", () => {
    expect(resolveTransition(subject("work", null, true), "start")).toEqual({
      kind: "to",
      role: "review",
      outcome: null,
    });
  });

  it("complete jumps over a review phase", () => {
    expect(resolveTransition(subject("work", null, true), "complete")).toMatchObject({ role: "terminal" });
  });

  it.each(["queue", "work", "review"] as const)("resume leads back to %s [B6]", (previous) => {
    expect(resolveTransition(subject("blocked", previous), "resume")).toMatchObject({
      kind: "to",
      role: previous,
    });
  });

  it("resume without a role to go back to names the way out", () => {
    const resolution = resolveTransition(
      { role: "blocked", previousRole: null, hasReviewPhase: false },
      "resume",
    );
    expect(resolution.kind === "refused" && resolution.message).toContain("cancel");
  });

  it("every refusal names the role that stands against it [B7]", () => {
    for (const { trigger, role } of cells) {
      const resolution = resolveTransition(subject(role), trigger);
      if (resolution.kind === "refused") expect(resolution.message).toMatch(new RegExp(role));
    }
  });
});

describe("labels", () => {
  it.each([
    ["start", "work", "in-progress"],
    ["start", "review", "in-progress"],
    ["complete", "terminal", "done"],
    ["cancel", "terminal", "cancelled"],
    ["block", "blocked", "blocked"],
    ["reopen", "queue", null],
    ["requeue", "queue", null],
    ["rework", "work", null],
    ["fail", "queue", null],
  ] as const)("%s into %s wears %s", (trigger, target, label) => {
    expect(labelAfter(trigger, target, "before")).toBe(label);
  });

  it("a start that lands in terminal wears the label of a completion [B1]", () => {
    expect(labelAfter("start", "terminal", "in-progress")).toBe("done");
  });

  it("a parent that is pulled to work is in progress, never done [B13]", () => {
    expect(labelAfter("cascade", "work", null)).toBe("in-progress");
    expect(labelAfter("cascade", "terminal", "in-progress")).toBe("done");
  });

  it("hold keeps the label that the item wears, resume clears it", () => {
    expect(labelAfter("hold", "blocked", "in-progress")).toBe("in-progress");
    expect(labelAfter("hold", "blocked", null)).toBeNull();
    expect(labelAfter("resume", "work", "in-progress")).toBeNull();
  });
});

describe("how far a role has come", () => {
  const forward: readonly Role[] = ["queue", "work", "review", "terminal"];

  it("a blocker reaches every threshold up to its own role, and one that is blocked reaches none [B17]", () => {
    for (const [at, role] of forward.entries()) {
      for (const [asked, threshold] of forward.entries()) expect(reaches(role, threshold)).toBe(at >= asked);
    }
    for (const threshold of forward) expect(reaches("blocked", threshold)).toBe(false);
  });

  it("forward is between roles other than blocked, and only ahead", () => {
    for (const from of ROLES) {
      for (const to of ROLES) {
        const ahead =
          forward.includes(from) && forward.includes(to) && forward.indexOf(to) > forward.indexOf(from);
        expect(isForward(from, to), `${from} to ${to}`).toBe(ahead);
      }
    }
  });
});
