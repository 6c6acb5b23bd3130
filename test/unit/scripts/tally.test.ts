import { describe, expect, it } from "vitest";
import { verdictOf } from "../../../scripts/test/tally.ts";

describe("the last line of a test run", () => {
  it("counts what passed and failed, and what was skipped only if something was", () => {
    expect(verdictOf({ passed: 7, failed: 0, skipped: 0 }, 0)).toEqual({
      line: "tests: 7 passed, 0 failed",
      exitCode: 0,
    });
    expect(verdictOf({ passed: 7, failed: 0, skipped: 2 }, 0).line).toBe(
      "tests: 7 passed, 0 failed, 2 skipped",
    );
  });

  it("is a failure when a test failed, whatever the runner says of itself", () => {
    expect(verdictOf({ passed: 7, failed: 1, skipped: 0 }, 0)).toEqual({
      line: "tests: 7 passed, 1 failed",
      exitCode: 1,
    });
  });

  it("is a failure when the runner failed without a failed test", () => {
    expect(verdictOf({ passed: 7, failed: 0, skipped: 0 }, 3)).toEqual({
      line: "tests: 7 passed, 1 failed",
      exitCode: 3,
    });
  });

  it("is a failure when nothing ran: a filter that matches no test proves nothing", () => {
    expect(verdictOf({ passed: 0, failed: 0, skipped: 4 }, 0).exitCode).toBe(1);
  });

  it("is a failure when the run was lost before it could count", () => {
    expect(verdictOf(null, 0)).toEqual({ line: "tests: 0 passed, 1 failed", exitCode: 1 });
  });
});
