/** Which items are stuck, and which of a list's rows a word of the wire means. `s` is the row of `item_state`. */
import type { Role } from "../../services/core/roles.ts";
import { claimableRow, offeredTo, type Parameters } from "./readiness-sql.ts";

/** On hold, dead, or waiting for a blocker of its own or of an ancestor. Word for word what its index holds. */
export const STUCK = `s.role <> 'terminal' and (s.role = 'blocked' or s.blockers > 0 or s.ancestor_blockers > 0)`;

/** A stranger without capabilities, for lists that nobody in particular asks for. */
const STRANGER = { agent: null, capabilities: [] } as const;

interface ReadinessScope {
  /** Roles in which an offer is asked for; the queue when the caller names none. */
  readonly roles: readonly Role[];
  readonly containers: boolean;
}

/** `ready` means what a claim with the same filter would be offered; the other words split what it would not. */
export function readinessCondition(
  readiness: "ready" | "blocked" | "claimed" | "waiting" | "dead",
  scope: ReadinessScope,
  parameters: Parameters,
): string {
  switch (readiness) {
    case "ready": {
      const rows = scope.roles
        .filter((role) => role !== "terminal")
        .map((role) => `(${claimableRow(role, scope.containers)})`);
      return rows.length === 0
        ? "false"
        : `(${rows.join(" or ")}) and ${offeredTo(STRANGER, false, parameters)}`;
    }
    case "blocked":
      return STUCK;
    case "claimed":
      return `s.agent is not null`;
    case "waiting":
      return `s.role <> 'terminal' and s.available_at > muster_now()`;
    case "dead":
      return `s.dead`;
  }
}
