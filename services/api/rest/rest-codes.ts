/**
 * How REST names errors. Clients of task-orchestrator's REST API know other codes than
 * those of its tools, and expect 422 of a move that is refused; `code` beside `error` is
 * always the one of the table.
 */
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";

interface RestName {
  readonly error: string;
  readonly status?: number;
}

const NAMES: Readonly<Partial<Record<ErrorCode, RestName>>> = {
  VALIDATION_ERROR: { error: "validation_error" },
  validation_failed: { error: "validation_error" },
  ambiguous_id: { error: "validation_error" },
  RESOURCE_NOT_FOUND: { error: "not_found" },
  item_not_found: { error: "not_found" },
  gate_blocked: { error: "gate_blocked", status: 422 },
  dependency_blocked: { error: "transition_blocked", status: 422 },
  open_children: { error: "transition_blocked", status: 422 },
  parent_closed: { error: "transition_blocked", status: 422 },
  invalid_transition: { error: "transition_failed", status: 422 },
  cycle_detected: { error: "cycle_detected", status: 400 },
  CONFLICT_ERROR: { error: "conflict" },
  DATABASE_ERROR: { error: "db_error" },
};

/** The code and the status that REST answers an error with. */
export function restNameOf(code: ErrorCode): Required<RestName> {
  return { status: ERRORS[code].httpStatus, error: code, ...NAMES[code] };
}
