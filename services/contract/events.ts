/**
 * What is sent to those who follow events. The text of an event is small: it says what changed, and
 * where to look, not what it changed to.
 */

/** Everything that is written down, and what it says besides its item. */
export const EVENT_TYPES = {
  "item.created": "An item was made. `parentId`.",
  "item.updated": "Fields of an item changed. `version`, `fields`.",
  "item.deleted": "An item went to the trash; everything below it says so too. `descendants` at the top.",
  "item.restored": "An item came back from the trash, with everything below it. `descendants`.",
  "item.moved": "An item has another parent. `parentId`.",
  "item.advanced": "An item changed its role. `previousRole`, `newRole`, `trigger`.",
  "item.reminder_due":
    "A reminder of an item has fired. `reminderId`, `remindAt`, `note`, `toAgent`, `toCapability`, `scheduleId`.",
  "schedule.fired":
    "A planned instant has run. `scheduleId`, `name`, `plannedAt`, `manual`, `reminderId`; the item is what it made or moved.",
  "schedule.skipped": "Planned instants did not run. `scheduleId`, `name`, `plannedAt`, `detail`.",
  "schedule.queued": "A planned instant waits for what is open. `scheduleId`, `name`, `plannedAt`.",
  "schedule.failed": "A planned instant was refused. `scheduleId`, `name`, `plannedAt`, `detail`.",
  "item.dead": "An item used up its attempts. `attempts`.",
  "note.upserted": "A note was written. `key`, `role`, `version`.",
  "note.deleted": "A note was deleted. `key`.",
  "dependency.added":
    "An edge was drawn; the item is the one that waits. `dependencyId`, `type`, `otherItemId`.",
  "dependency.removed": "An edge was taken away. `dependencyId`, `type`, `otherItemId`.",
  "claim.granted": "An item has a holder. `agent`.",
  "claim.expired": "A claim lapsed and was ended. `agent`, `reason`.",
  "claim.ended": "A claim ended otherwise. `agent`, `reason`.",
  "lease.acquired": "An item took resources. `keys`.",
  "lease.released": "An item let go of resources. `keys`.",
  "lease.force_released": "An operator took a resource away. `keys`.",
  "config.changed": "A root has another configuration. `fingerprint`.",
  "document.stashed": "A document of a root was written. `slug`.",
  "document.adopted": "An item took a document over. `slug`.",
} as const satisfies Record<string, string>;

/** What an event is turned into for a stream that sees a part of the tree only. */
export const BOUNDARY_EVENT_TYPES = {
  "scope.entered": "A move brought an item into what this stream sees. `parentId`.",
  "scope.left": "A move took an item out of what this stream sees.",
} as const satisfies Record<string, string>;

/** Said by the stream itself. */
export const CONTROL_EVENT_TYPES = {
  "sync.required": "Events are missing: read again what you keep. `reason`.",
  "auth.expired": "The credential opens nothing any more; the stream ends.",
} as const satisfies Record<string, string>;

export type EventType = keyof typeof EVENT_TYPES | keyof typeof BOUNDARY_EVENT_TYPES;

/** Why a stream cannot go on where its client was. */
export const SYNC_REASONS = {
  too_old: "What came after that number is no longer kept, or is too much to send again.",
  unknown_event_id: "That number is not one of this database.",
  queue_overflow: "The client reads too slowly; the stream ends.",
} as const satisfies Record<string, string>;

export type SyncReason = keyof typeof SYNC_REASONS;

export interface WireEvent {
  /** Its number in the outbox: decimal digits, for `Last-Event-ID`. */
  readonly id: string;
  readonly event: EventType;
  readonly itemId?: string;
  /** Left out when the caller does not see the root. */
  readonly rootId?: string;
  /** ISO 8601, milliseconds. */
  readonly modifiedAt: string;
  /** As in the header of the same name, if the call that caused it sent one. */
  readonly traceparent?: string;
  readonly [detail: string]: unknown;
}

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text) || Object.hasOwn(BOUNDARY_EVENT_TYPES, text);
}
