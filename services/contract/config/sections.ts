/**
 * The sections of a configuration text, as they are written. Values are checked strictly: one
 * that is skipped because it is wrong would leave a gate open that somebody meant to close.
 *
 * Keys are those of task-orchestrator, so that its files work as they are. Ours are `shared`
 * resources, `retry`, `on_cancelled`, `identity`, `retention`, and the retry keys of a type.
 */
import { z } from "zod";
import { NOTE_KEY_LENGTH_MAX, STATUS_LABEL_LENGTH_MAX, TAG_LENGTH_MAX, TYPE_LENGTH_MAX } from "../limits.ts";
import { actorAuthentication } from "./actor-authentication.ts";
import { ON_CANCELLED, TRIGGERS } from "../vocabulary.ts";

const PHASES = ["queue", "work", "review"] as const;
/** `auto-reopen` never did anything but what `auto` does, and is read as that. */
const LIFECYCLES = ["auto", "manual", "permanent", "auto-reopen"] as const;

const RESOURCE_KEY = /^[a-z0-9][a-z0-9\-_./]*$/;
const RESOURCE_KEY_LENGTH_MAX = 128;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
const DAY_SECONDS = 86_400;

/** Words that older YAML reads as truth values. */
const WORDS: ReadonlyMap<unknown, boolean> = new Map([
  ["yes", true],
  ["on", true],
  ["no", false],
  ["off", false],
]);
const flag = z.preprocess((value) => WORDS.get(value) ?? value, z.boolean());

const words = z.string().trim().min(1).max(TAG_LENGTH_MAX);
/** A key without a value counts as absent. */
const text = z.string().nullish();
const names = z.array(words).nullish();
const seconds = z.int().min(1).max(DAY_SECONDS);

const resourceKey = z
  .string()
  .max(RESOURCE_KEY_LENGTH_MAX)
  .regex(RESOURCE_KEY, "must be lower-case letters, digits and - _ . /, and begin with a letter or digit");

const note = z.strictObject({
  key: z.string().trim().min(1).max(NOTE_KEY_LENGTH_MAX),
  role: z.enum(PHASES),
  required: flag.default(false),
  description: text,
  guidance: text,
  skill: text,
  maxLength: z.int().min(1).nullish(),
  seat: words.nullish(),
  independent_of: names,
});
export type WrittenNote = z.output<typeof note>;

const seat = z.strictObject({
  name: words,
  phase: z.enum(PHASES),
  enters: flag.default(false),
  after: names,
  reads_exclude: names,
});
export type WrittenSeat = z.output<typeof seat>;

const retryShape = {
  on_expiry: z.enum(["requeue", "hold"]).optional(),
  max_attempts: z.int().min(1).max(1_000).optional(),
  backoff: z
    .strictObject({
      first_seconds: z.number().min(0).max(DAY_SECONDS).optional(),
      factor: z.number().min(1).max(100).optional(),
      max_seconds: z
        .number()
        .min(0)
        .max(7 * DAY_SECONDS)
        .optional(),
    })
    .optional(),
  max_review_rounds: z.int().min(1).max(1_000).optional(),
};
const retry = z.strictObject(retryShape);
export type WrittenRetry = z.output<typeof retry>;

const type = z.strictObject({
  lifecycle: z.enum(LIFECYCLES).default("auto"),
  default_traits: names,
  notes: z.array(note).default([]),
  seats: z.array(seat).default([]),
  ...retryShape,
});
export type WrittenType = z.output<typeof type>;

const requirement = z.preprocess(
  (value) => (typeof value === "string" ? { key: value } : value),
  z.strictObject({
    key: resourceKey,
    mode: z.enum(["exclusive", "shared", "advisory"]).default("exclusive"),
    ttlSeconds: seconds.nullish(),
  }),
);

const profileShape = {
  agent: words.nullish(),
  model: words.nullish(),
  effort: z.enum(EFFORTS).nullish(),
};
const phase = z.strictObject({
  ...profileShape,
  seats: z.record(words, z.strictObject(profileShape)).optional(),
});
export type WrittenPhase = z.output<typeof phase>;

const trait = z.strictObject({
  notes: z.array(note).optional(),
  resources: z.array(requirement).optional(),
  dispatch: z
    .strictObject({ queue: phase.optional(), work: phase.optional(), review: phase.optional() })
    .optional(),
  seats: z.array(seat).optional(),
});
export type WrittenTrait = z.output<typeof trait>;

const resource = z.strictObject({
  description: text,
  defaultTtlSeconds: seconds.nullish(),
  maxHolders: z.int().min(1).max(10_000).default(1),
});

const label = z.string().trim().min(1).max(STATUS_LABEL_LENGTH_MAX).nullable().optional();
const labels = z.strictObject(
  Object.fromEntries([...TRIGGERS, "cascade" as const].map((key) => [key, label])),
);

/** What may be in a text, wherever it comes from. */
export const projectSections = z.strictObject({
  work_item_schemas: z.record(z.string().min(1).max(TYPE_LENGTH_MAX), type).default({}),
  note_schemas: z.record(z.string().min(1).max(TYPE_LENGTH_MAX), z.array(note)).default({}),
  traits: z.record(words, trait).default({}),
  resources: z.record(resourceKey, resource).default({}),
  note_limits: z.strictObject({ mode: z.enum(["warn", "reject"]).optional() }).optional(),
  status_labels: labels.optional(),
  schema_resolution: z.enum(["legacy", "layered", "isolated"]).optional(),
  independence: z
    .strictObject({
      mode: z.enum(["off", "warn", "reject"]).default("warn"),
      require_verified: flag.default(false),
    })
    .optional(),
  retry: retry.default({}),
  on_cancelled: z.enum(ON_CANCELLED).optional(),
  project: z.strictObject({ rootId: z.string().nullish(), name: text }).optional(),
});

const days = z.int().min(1).max(3_660);

/** How long what has been is kept. A window of nothing is refused: it would let go of what is still read. */
const retention = z.strictObject({
  events_days: days.optional(),
  audit_days: days.optional(),
  attempts_days: days.optional(),
  // Longer than any tenure, so that whatever an agent repeats is still known.
  idempotency_hours: z.int().min(24).max(8_784).optional(),
  trash_days: days.optional(),
  versions_days: days.optional(),
  transitions_days: days.optional(),
  lease_history_days: days.optional(),
  agents_days: days.optional(),
});
export type WrittenRetention = z.output<typeof retention>;

/** What only the server's own file may say: it holds for everybody. */
export const serverSections = projectSections.omit({ project: true }).extend({
  identity: z.enum(["session", "actor"]).optional(),
  actor_authentication: actorAuthentication.optional(),
  retention: retention.default({}),
});

export type ProjectSections = z.output<typeof projectSections>;
export type ServerSections = z.output<typeof serverSections>;
