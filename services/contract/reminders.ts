/** Reminders as answers show them, and the pieces that their inputs share with those of schedules. */
import { z } from "zod";
import { answer, at, id } from "./answers.ts";
import * as fields from "./fields.ts";
import { REMINDER_NOTE_LENGTH_MAX, TAG_LENGTH_MAX } from "./limits.ts";
import { facts, oneLine } from "./rendering.ts";

export const REMINDER_STATES = ["armed", "fired", "acknowledged"] as const;

const FULL_INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A full RFC 3339 instant. A date alone is refused: whose midnight would it be? */
export const fullInstant = z.string().transform((text, ctx): Date => {
  const at = parseInstant(text);
  if (at !== null) return at;
  const shown = text.slice(0, 40);
  const message = BARE_DATE.test(text)
    ? `"${shown}" is a date without a time; which midnight is meant is not guessed: write it like ${text}T09:00:00Z`
    : `"${shown}" is not a full RFC 3339 instant; write it like 2026-01-31T09:00:00Z or 2026-01-31T09:00:00+01:00`;
  ctx.addIssue({ code: "custom", message, input: text, params: { code: "invalid_remind_at" } });
  return z.NEVER;
});

function parseInstant(text: string): Date | null {
  const date = FULL_INSTANT.exec(text)?.[1];
  const at = new Date(date === undefined ? Number.NaN : text.toUpperCase());
  if (date === undefined || Number.isNaN(at.getTime())) return null;
  // A day that its month does not have would silently be one of the next month.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date) ? at : null;
}

/** Whom a reminder is for, and what it says. */
export const reminderShape = {
  note: z.string().trim().min(1).max(REMINDER_NOTE_LENGTH_MAX).optional().describe("What to remember."),
  toAgent: fields.agentName.optional().describe("Only for this actor.id."),
  toCapability: z.string().trim().min(1).max(TAG_LENGTH_MAX).optional().describe("Only for who has it."),
};

/** A fired reminder beside an item. */
export const reminderHead = answer({
  reminderId: id,
  note: z.string().optional(),
  toAgent: z.string().optional(),
  toCapability: z.string().optional(),
  firedAt: at,
});
export type ReminderHead = z.output<typeof reminderHead>;

export const reminder = answer({
  reminderId: id,
  itemId: id,
  title: z.string(),
  state: z.enum(REMINDER_STATES),
  remindAt: at,
  note: z.string().optional(),
  toAgent: z.string().optional(),
  toCapability: z.string().optional(),
  firedAt: at.optional(),
  ackedAt: at.optional(),
  ackedBy: z.string().optional(),
  /** The schedule that made it. */
  scheduleId: id.optional(),
});
export type ReminderAnswer = z.output<typeof reminder>;

export function reminderLine(one: ReminderAnswer): string {
  const { reminderId, state, remindAt, itemId, toAgent, toCapability } = one;
  return `${reminderId} [${state}] ${remindAt} ${facts({ item: itemId, toAgent, toCapability })} ${oneLine(one.note ?? one.title, 120)}`;
}
