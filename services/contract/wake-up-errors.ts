/** The part of the error table that reminders and schedules have to themselves. */
import { EXIT, entry, type ErrorEntry } from "./error-kinds.ts";

export const WAKE_UP_ERRORS = {
  invalid_remind_at: entry(
    "permanent",
    400,
    EXIT.usage,
    "Send a full RFC 3339 instant with its zone, like 2026-01-31T09:00:00Z.",
  ),
  reminder_not_fired: entry(
    "permanent",
    409,
    EXIT.refused,
    "Wait until it fires, or take it away with operation disarm.",
  ),
  invalid_timezone: entry(
    "permanent",
    400,
    EXIT.usage,
    "Name a zone of the IANA database, like Europe/Berlin or UTC.",
  ),
  invalid_schedule: entry(
    "permanent",
    400,
    EXIT.usage,
    "Write cron with five fields (minute hour day month weekday), or everySeconds; the message says what is wrong.",
  ),
} as const satisfies Record<string, ErrorEntry>;
