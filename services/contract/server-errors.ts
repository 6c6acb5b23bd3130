/** The part of the error table that is nobody's fault but the server's, or that of what it needs. */
import { EXIT, entry, type ErrorEntry } from "./error-kinds.ts";

export const SERVER_ERRORS = {
  DATABASE_ERROR: entry(
    "transient",
    503,
    EXIT.unavailable,
    "Send the same call again with the same requestId.",
  ),
  db_error: entry("transient", 503, EXIT.unavailable, "Send the same call again with the same requestId."),
  INTERNAL_ERROR: entry(
    "transient",
    500,
    EXIT.failed,
    "Send the same call again with the same requestId; if it stays, look into the server's log.",
  ),
  OPERATION_FAILED: entry("permanent", 500, EXIT.failed, "Look into the server's log for this request."),
  unavailable: entry(
    "transient",
    503,
    EXIT.unavailable,
    "The server cannot reach what it needs. Send the same call again with the same requestId.",
  ),
  draining: entry(
    "shedding",
    503,
    EXIT.unavailable,
    "This server is stopping. Send the same call to another one, or after retryAfterMs.",
  ),
  config_unavailable: entry(
    "transient",
    503,
    EXIT.config,
    "The configuration of this root cannot be read; ask an operator.",
  ),
} as const satisfies Record<string, ErrorEntry>;
