/**
 * The pieces that inputs are made of. Each says in its message what is wrong and
 * what would be right, since the reader is usually a model that gets one retry.
 *
 * Schemas here are strict and plain (no unions, no coercion), so that their JSON
 * Schema is flat. The few liberties callers are given (spelling of enum values,
 * "true" for true) are taken by `parse.ts` before a second attempt.
 */
import { z } from "zod";
import * as limits from "./limits.ts";
import { ACTOR_KINDS, PRIORITIES, ROLES } from "./vocabulary.ts";
import type { Role } from "../core/roles.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HEX = /^[0-9a-f]+$/;
const TAG = /^[a-z0-9][a-z0-9-]*$/;
const RESOURCE_KEY = /^[a-z0-9][a-z0-9\-_./]*$/;
const NAME = /^[a-z0-9][a-z0-9._:/-]*$/i;
const WORKER_ID = /^[A-Za-z0-9._:@/-]+$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;

/** True for a full UUID, as opposed to a prefix that has yet to be resolved. */
export function isFullId(text: string): boolean {
  return UUID.test(text);
}

function faultOfItemRef(text: string): string | null {
  if (UUID.test(text)) return null;
  if (text.includes("-")) return "is not a full UUID; send all 36 characters, or a hex prefix without dashes";
  if (!HEX.test(text)) return "is not an item id: only hex digits, or a full UUID";
  if (text.length < limits.ID_PREFIX_LENGTH_MIN) {
    return `is too short: an id prefix has ${limits.ID_PREFIX_LENGTH_MIN} to ${limits.ID_PREFIX_LENGTH_MAX} hex digits`;
  }
  return text.length > limits.ID_PREFIX_LENGTH_MAX
    ? "is too long for an id prefix; send the full UUID with its dashes"
    : null;
}

function refused(check: (text: string) => string | null) {
  return (text: string, ctx: z.core.$RefinementCtx<string>): void => {
    const message = check(text);
    if (message !== null)
      ctx.addIssue({ code: "custom", message: `"${text.slice(0, 60)}" ${message}`, input: text });
  };
}

/** An item by its full UUID or by 4 to 35 leading hex digits (without dashes). */
export const itemRef = z.string().toLowerCase().superRefine(refused(faultOfItemRef));

/** For what cannot be taken back by looking again, such as a delete: the whole id. */
export const fullId = z
  .string()
  .toLowerCase()
  .superRefine(
    refused((text) => (UUID.test(text) ? null : "is not a full UUID; a prefix is not enough here")),
  );

/** The idempotency key of a call. */
export const requestId = z
  .string({
    error: ({ input }) =>
      input === undefined ? "is missing; send a UUID, and generate a new one for every new call" : undefined,
  })
  .toLowerCase()
  .superRefine(
    refused((text) => (UUID.test(text) ? null : "is not a UUID; generate a new one for every new call")),
  )
  .describe("UUID, new per call; repeat it only to retry.");

export const actor = z
  .strictObject({
    id: z.string().trim().min(1).max(limits.ACTOR_ID_LENGTH_MAX),
    kind: z.enum(ACTOR_KINDS),
    parent: z.string().trim().min(1).max(limits.ACTOR_ID_LENGTH_MAX).optional(),
    proof: z.string().max(limits.ACTOR_PROOF_LENGTH_MAX).optional(),
  })
  .describe("Who you are; keep the same id.");
export type Actor = z.output<typeof actor>;

/** The name of an agent, on reads that ask for somebody's view. */
export const agentName = z.string().trim().min(1).max(limits.ACTOR_ID_LENGTH_MAX).describe("Your actor.id.");

/** The session part of a holder: names one worker among those that share an actor.id. */
export const workerId = z
  .string()
  .min(1)
  .max(limits.WORKER_ID_LENGTH_MAX)
  .superRefine(
    refused((text) =>
      WORKER_ID.test(text) ? null : "is not a workerId: letters, digits and . _ : @ / - only",
    ),
  )
  .describe("As claim_item returned it.");

export const fence = z.int().min(1).describe("As claim_item returned it.");

/** Why an operator does what takes something from others. */
export const reason = z
  .string()
  .trim()
  .min(1, "is empty; say why, for whoever looks at the history")
  .max(limits.REASON_LENGTH_MAX)
  .describe("Why; kept with the history.");

const TTL_RANGE = `must be a whole number of seconds from ${limits.TTL_MIN_SECONDS} to ${limits.TTL_MAX_SECONDS}, as a number`;

/** The name of a resource, as schemas declare them. */
export const resourceKey = z
  .string()
  .min(1)
  .max(limits.RESOURCE_KEY_LENGTH_MAX)
  .superRefine(
    refused((text) =>
      RESOURCE_KEY.test(text)
        ? null
        : "is not a resource: lower-case letters, digits and - _ . / only, beginning with a letter or a digit",
    ),
  );

/** Labels of what was used, never the secrets themselves. One may come without its list. */
export const credentialRefs = z
  .preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z.array(resourceKey).max(limits.CREDENTIALS_PER_TRANSITION_MAX),
  )
  .describe("Resources used, by name.");

/** How long a claim lasts without being renewed. Out of range is refused, never clamped. */
export const ttlSeconds = z
  .int(TTL_RANGE)
  .min(limits.TTL_MIN_SECONDS, TTL_RANGE)
  .max(limits.TTL_MAX_SECONDS, TTL_RANGE);

/** How long an item that was handed back is kept out of the offers. */
export const delaySeconds = z.int().min(0).max(limits.DELAY_MAX_SECONDS);

export const waitSeconds = z.int().min(0).max(limits.WAIT_MAX_SECONDS);

/** An ISO 8601 instant with its zone, or a date (midnight UTC). */
export const instant = z.string().transform((text, ctx): Date => {
  const at = INSTANT.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime())) {
    ctx.addIssue({
      code: "custom",
      message: `"${text.slice(0, 40)}" is not an instant; write it like 2026-01-31T09:00:00Z`,
      input: text,
    });
    return z.NEVER;
  }
  return at;
});

/** An instant to act at. A date alone is refused: whose midnight it means, nobody can know. */
export const fullInstant = z.string().transform((text, ctx): Date => {
  const at = INSTANT.test(text) && text.includes("T") ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime())) {
    ctx.addIssue({
      code: "custom",
      message: `"${text.slice(0, 40)}" is not a full instant; write date, time and zone, like 2026-01-31T09:00:00Z`,
      input: text,
    });
    return z.NEVER;
  }
  return at;
});

function listOf(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ""))];
}

interface CsvRules {
  readonly max: number;
  readonly lengthMax: number;
  readonly fits: RegExp;
  readonly grammar: string;
}

function csv({ max, lengthMax, fits, grammar }: CsvRules) {
  return z.string().transform((text, ctx): string[] => {
    const parts = listOf(text);
    const bad = parts.find((part) => !fits.test(part) || part.length > lengthMax);
    if (bad !== undefined) {
      ctx.addIssue({
        code: "custom",
        message: `"${bad.slice(0, 60)}" is not allowed here: ${grammar}`,
        input: text,
      });
    }
    if (parts.length > max) {
      ctx.addIssue({ code: "custom", message: `has ${parts.length} entries; at most ${max}`, input: text });
    }
    return parts;
  });
}

/** Comma-separated tags; parsed to a list without duplicates. */
export const tagCsv = csv({
  max: limits.TAGS_PER_ITEM_MAX,
  lengthMax: limits.TAG_LENGTH_MAX,
  fits: TAG,
  grammar: "tags are lower-case letters, digits and -, separated by commas",
});

/** Comma-separated names (capabilities, traits); parsed to a list without duplicates. */
export const nameCsv = csv({
  max: limits.CAPABILITIES_MAX,
  lengthMax: limits.TAG_LENGTH_MAX,
  fits: NAME,
  grammar: "names are letters, digits and . _ : / -, separated by commas",
});

/** One role or several, comma-separated: `work,queue`. */
export function roleCsv(roles: readonly Role[] = ROLES) {
  return z
    .string()
    .transform((text, ctx): Role[] => {
      const parts = listOf(text.toLowerCase());
      const known = parts.filter((part): part is Role => (roles as readonly string[]).includes(part));
      if (known.length !== parts.length || known.length === 0) {
        const bad = parts.find((part) => !(roles as readonly string[]).includes(part)) ?? text;
        ctx.addIssue({
          code: "custom",
          message: `"${bad.slice(0, 40)}" is not a role here; use ${roles.join(", ")}, or several separated by commas`,
          input: text,
        });
      }
      return known;
    })
    .describe(`One or several: ${roles.join(",")}.`);
}

export const priority = z.enum(PRIORITIES);
export const complexity = z.int().min(limits.COMPLEXITY_MIN).max(limits.COMPLEXITY_MAX);
export const title = z.string().trim().min(1).max(limits.TITLE_LENGTH_MAX);
export const summary = z.string().max(limits.SUMMARY_LENGTH_MAX);
export const description = z.string().max(limits.DESCRIPTION_LENGTH_MAX);
export const itemType = z.string().trim().min(1).max(limits.TYPE_LENGTH_MAX);
export const statusLabel = z.string().trim().min(1).max(limits.STATUS_LABEL_LENGTH_MAX);
export const metadata = z.string().max(limits.METADATA_LENGTH_MAX);
export const flag = z.boolean();
export const offset = z.int().min(0).default(0);

/** Free values of an item. The original sends them as JSON text, so that is read too. */
export const properties = z
  .preprocess(objectFromText, z.record(z.string(), z.unknown()))
  .superRefine((value, ctx) => {
    const inexact = inexactNumber(value);
    if (inexact !== undefined) {
      const message = `has the number ${inexact}, which did not arrive as it was sent: numbers of this size go as text, in quotes`;
      ctx.addIssue({ code: "custom", message, input: value });
    }
    const size = sizeOfJson(value);
    if (size <= limits.PROPERTIES_SIZE_MAX_BYTES) return;
    const message = `must be at most ${limits.PROPERTIES_SIZE_MAX_BYTES} bytes of JSON, not ${size}`;
    ctx.addIssue({ code: "custom", message, input: value });
  });

function sizeOfJson(value: unknown): number {
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return Number.POSITIVE_INFINITY; // Nested too deeply to be written at all.
  }
}

/** A whole number beyond what JSON readers keep exactly: it has been changed before anybody could look. */
function inexactNumber(value: unknown, depth = 0): number | undefined {
  if (typeof value === "number")
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : undefined;
  if (typeof value !== "object" || value === null || depth > PROPERTIES_DEPTH_MAX) return undefined;
  for (const part of Object.values(value)) {
    const found = inexactNumber(part, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What lies deeper is refused for its depth. */
const PROPERTIES_DEPTH_MAX = 500;

function objectFromText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value; // Refused below as "expected object", which is what it should have been.
  }
}

/** A field that an update may empty: null clears it, absence leaves it as it is. */
export function clearable<S extends z.ZodType>(schema: S): z.ZodOptional<z.ZodNullable<S>> {
  return schema.nullable().optional();
}

export function listLimit(max: number, preset: number) {
  return z.int().min(1).max(max).default(preset);
}
