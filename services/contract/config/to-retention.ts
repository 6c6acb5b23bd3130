/** The windows of retention as they are configured, and as they are where nothing is said. */
import { DEFAULT_RETENTION, type RetentionWindows } from "../../core/retention.ts";
import type { WrittenRetention } from "./sections.ts";

export function toRetention(written: WrittenRetention): RetentionWindows {
  return {
    eventsDays: written.events_days ?? DEFAULT_RETENTION.eventsDays,
    auditDays: written.audit_days ?? DEFAULT_RETENTION.auditDays,
    attemptsDays: written.attempts_days ?? DEFAULT_RETENTION.attemptsDays,
    idempotencyHours: written.idempotency_hours ?? DEFAULT_RETENTION.idempotencyHours,
    trashDays: written.trash_days ?? DEFAULT_RETENTION.trashDays,
    versionsDays: written.versions_days ?? DEFAULT_RETENTION.versionsDays,
    transitionsDays: written.transitions_days ?? DEFAULT_RETENTION.transitionsDays,
    leaseHistoryDays: written.lease_history_days ?? DEFAULT_RETENTION.leaseHistoryDays,
    agentsDays: written.agents_days ?? DEFAULT_RETENTION.agentsDays,
  };
}
