/** How long what has been is kept. What is still needed outlives its window: the stores say what that is. */

/** Days, but for answers to repeated calls, which are hours. */
export interface RetentionWindows {
  /** The outbox: whoever reads on from before this has to begin anew. */
  readonly eventsDays: number;
  readonly auditDays: number;
  /** Tenures of closed and deleted items; the latest of each item stays. */
  readonly attemptsDays: number;
  /** How long a `requestId` is answered with what it was answered before. */
  readonly idempotencyHours: number;
  /** From a delete on; its answer has promised as much. */
  readonly trashDays: number;
  /** Earlier texts of notes and items, from the change that replaced them on: so long it can be undone. */
  readonly versionsDays: number;
  /** Moves between roles; the latest of each item stays. */
  readonly transitionsDays: number;
  readonly leaseHistoryDays: number;
  /** Sessions that nobody has heard of since. */
  readonly agentsDays: number;
}

export const DEFAULT_RETENTION: RetentionWindows = {
  eventsDays: 7,
  auditDays: 90,
  attemptsDays: 90,
  idempotencyHours: 72,
  trashDays: 30,
  versionsDays: 180,
  transitionsDays: 365,
  leaseHistoryDays: 90,
  agentsDays: 30,
};
