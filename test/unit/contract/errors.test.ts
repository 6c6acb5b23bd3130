import { describe, expect, it, vi } from "vitest";
import { CLAIM_REFUSALS } from "../../../services/contract/claiming.ts";
import {
  ERRORS,
  EXIT,
  ensureError,
  errorBody,
  errorText,
  fault,
  isErrorCode,
  isMusterError,
} from "../../../services/contract/errors.ts";

const ORIGINAL_CODES = [
  "VALIDATION_ERROR",
  "RESOURCE_NOT_FOUND",
  "DATABASE_ERROR",
  "CONFLICT_ERROR",
  "INTERNAL_ERROR",
  "OPERATION_FAILED",
  "already_claimed",
  "queue_empty",
  "none_eligible",
  "no_match",
  "db_error",
  "rejected_by_policy",
  "not_claim_holder",
  "resource_unavailable",
  "multi_claim_not_supported",
  "NOTE_BODY_TOO_LONG",
  "NOTE_BODY_TOO_LARGE",
  "gate_blocked",
  "dependency_blocked",
  "validation_failed",
  "invalid_transition",
  "apply_failed",
  "item_not_found",
  "invalid_trigger",
  "invalid_actor",
  "config_unavailable",
  "idempotency_mismatch",
  "not_found",
  "terminal_item",
];

describe("the error table", () => {
  it("has every code that clients of task-orchestrator know", () => {
    expect(ORIGINAL_CODES.filter((code) => !isErrorCode(code))).toEqual([]);
  });

  it("gives every code a status, an exit code and a next step", () => {
    const exits = new Set<number>(Object.values(EXIT));
    const incomplete = Object.entries(ERRORS).filter(
      ([, entry]) =>
        entry.httpStatus < 400 ||
        entry.exitCode === EXIT.ok ||
        !exits.has(entry.exitCode) ||
        !/^[A-Z].{10,200}\.$/.test(entry.hint),
    );
    expect(incomplete).toEqual([]);
  });

  it("is transient or shedding wherever the server, not the call, is at fault", () => {
    const misleading = Object.entries(ERRORS).filter(
      ([, entry]) => entry.httpStatus === 503 && (entry.kind as string) === "permanent",
    );
    expect(misleading).toEqual([]);
  });

  it("covers every way in which a claim is refused", () => {
    expect(CLAIM_REFUSALS.filter((code) => !isErrorCode(code))).toEqual([]);
  });

  it("does not take inherited names for codes", () => {
    expect(isErrorCode("toString")).toBe(false);
  });
});

describe("an error", () => {
  it("carries kind and hint of its code, details, and the time to wait", () => {
    const error = fault("already_claimed", "the item is held", {
      retryAfterMs: 500,
      details: { contendedItemId: "x" },
    });
    expect(errorBody(error)).toEqual({
      code: "already_claimed",
      contendedItemId: "x",
      kind: "transient",
      message: "the item is held",
      hint: ERRORS.already_claimed.hint,
      retryAfterMs: 500,
      details: { contendedItemId: "x" },
    });
    expect(errorText(error)).toBe(
      `already_claimed (transient): the item is held\nNext: ${ERRORS.already_claimed.hint} Retry after 500 ms.`,
    );
  });

  it("from elsewhere shows nothing of what it said", () => {
    const cause = new Error("password=hunter2 at select * from items");
    const error = ensureError(cause);
    expect(JSON.stringify(errorBody(error)) + errorText(error)).not.toContain("hunter2");
    expect(error.cause).toBe(cause);
    expect(ensureError(error)).toBe(error);
  });

  it("of another copy of the module is recognised", async () => {
    vi.resetModules();
    const copy = await import("../../../services/contract/errors.ts");
    expect(copy.fault).not.toBe(fault);
    expect(isMusterError(copy.fault("draining", "stopping"))).toBe(true);
    expect(isMusterError({ code: "draining" })).toBe(false);
  });
});
