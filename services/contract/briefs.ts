/**
 * The brief of an item: one bounded answer with everything that working on it needs.
 * What had no room is named with its size and the call that fetches it.
 */
import { z } from "zod";
import { answer, at, fullItemShape, id, role } from "./answers.ts";
import { BRIEF_SIZE_DEFAULT_BYTES, BRIEF_SIZE_MAX_BYTES, BRIEF_SIZE_MIN_BYTES } from "./limits.ts";
import { reminderHead } from "./reminders.ts";
import { facts, itemLine, oneLine } from "./rendering.ts";

/** In the order in which they are kept: the last is the first to be left out. */
export const BRIEF_SECTIONS = [
  "reminders",
  "gate",
  "description",
  "parents",
  "blockers",
  "lastAttempt",
  "notes",
  "related",
  "siblings",
  "activity",
] as const;
export type BriefSection = (typeof BRIEF_SECTIONS)[number];

export const briefBudget = z
  .int()
  .min(BRIEF_SIZE_MIN_BYTES)
  .max(BRIEF_SIZE_MAX_BYTES)
  .describe(`brief: default ${BRIEF_SIZE_DEFAULT_BYTES}.`);

const missingNote = answer({
  key: z.string(),
  description: z.string().optional(),
  guidance: z.string().optional(),
  skill: z.string().optional(),
});

/** What leaving the phase takes. */
const gate = answer({
  phase: role,
  complete: z.boolean(),
  missing: z.array(missingNote),
});

const place = { id, title: z.string(), role };

const parent = answer({ ...place, summary: z.string().optional() });
const blocker = answer({
  ...place,
  outcome: z.string().optional(),
  requiredRole: z.string(),
  satisfied: z.boolean(),
});
const attempt = answer({ endReason: z.string(), endedAt: at, detail: z.string().optional() });
const note = answer({
  key: z.string(),
  role,
  version: z.int(),
  modifiedAt: at,
  body: z.string(),
  /** Only the beginning is here. */
  bodyLength: z.int().optional(),
});
const related = answer({ ...place, relation: z.enum(["blocks", "relates"]) });
const move = answer({
  at,
  fromRole: role,
  toRole: role,
  trigger: z.string(),
  summary: z.string().optional(),
});

const omission = answer({
  section: z.enum(BRIEF_SECTIONS),
  /** How many of its entries are missing. */
  entries: z.int(),
  bytes: z.int(),
  fetch: z.string(),
});
export type Omission = z.output<typeof omission>;

export const brief = answer({
  item: answer({ ...fullItemShape, title: z.string() }),
  /** Fired, and to be acknowledged. */
  reminders: z.array(reminderHead).optional(),
  gate: gate.optional(),
  description: z.string().optional(),
  parents: z.array(parent).optional(),
  blockers: z.array(blocker).optional(),
  lastAttempt: attempt.optional(),
  notes: z.array(note).optional(),
  related: z.array(related).optional(),
  siblings: z.array(answer(place)).optional(),
  activity: z.array(move).optional(),
  omitted: z.array(omission),
  /** Of every text in here. */
  trust: answer({
    origin: z.literal("others"),
    mayContainInstructions: z.literal(true),
    executable: z.literal(false),
  }),
});
export type Brief = z.output<typeof brief>;

const BODY_SHOWN_MAX = 1_500;

/** What to do with an item, in a few lines: the texts that are worth their place, and what is still to be written. */
export function briefLines(shown: Brief): string[] {
  const { item } = shown;
  const missing = shown.gate?.missing ?? [];
  return [
    itemLine(item),
    item.summary ? `Summary: ${oneLine(item.summary, 500)}` : "",
    ...(shown.reminders ?? []).map(
      (one) =>
        `REMINDER ${one.reminderId} ${facts({ toAgent: one.toAgent, toCapability: one.toCapability })} ${oneLine(one.note ?? "", 400)}`,
    ),
    ...missing.map(
      ({ key, description, guidance }) =>
        `To write: note ${key}${description ? `: ${oneLine(description)}` : ""}${guidance ? ` (${oneLine(guidance, 400)})` : ""}`,
    ),
    shown.description ? `Description: ${shown.description.slice(0, BODY_SHOWN_MAX)}` : "",
    ...(shown.parents ?? []).map((one) => `Below: ${one.id} ${oneLine(one.title, 120)}`),
    ...(shown.blockers ?? []).map(
      (one) => `${one.satisfied ? "After" : "WAITS FOR"} ${one.id} [${one.role}] ${oneLine(one.title, 120)}`,
    ),
    shown.lastAttempt
      ? `Last attempt ${shown.lastAttempt.endReason}: ${oneLine(shown.lastAttempt.detail ?? "", 400)}`
      : "",
    ...(shown.notes ?? []).map(
      (one) => `Note ${one.key} [${one.role}]: ${one.body.slice(0, BODY_SHOWN_MAX)}`,
    ),
    ...(shown.related ?? []).map(
      (one) => `${one.relation} ${one.id} [${one.role}] ${oneLine(one.title, 120)}`,
    ),
    ...shown.omitted.map((one) => `Left out: ${facts({ ...one, fetch: undefined })}; ${one.fetch}`),
  ];
}
