/**
 * The pieces that outputs are made of. An output lists what callers can rely on;
 * the engine may add fields, so nothing here forbids more.
 */
import { z } from "zod";
import { DEPENDENCY_TYPES, ON_CANCELLED, PRIORITIES, ROLES, THRESHOLDS } from "./vocabulary.ts";

/**
 * An object that lets additional fields through at run time, while its type has
 * only the listed ones: an index signature would hide every spelling mistake.
 */
export function answer<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S> {
  const loose: unknown = z.looseObject(shape);
  return loose as z.ZodObject<S>;
}

export const role = z.enum(ROLES);
export const priority = z.enum(PRIORITIES);
const threshold = z.enum(THRESHOLDS);
/** Instants go out as ISO text. */
export const at = z.string();
export const id = z.string();

/** What is written comma-separated is read back so. */
export const csvText = z.string().nullable().optional();

export const ancestor = answer({ id, title: z.string(), depth: z.int().optional() });

/** An item as claims, recommendations and lists show it. */
export const itemHeadShape = {
  title: z.string(),
  role,
  priority,
  complexity: z.int().nullable().optional(),
  type: z.string().nullable().optional(),
  tags: csvText,
  summary: z.string().optional(),
  parentId: id.nullable().optional(),
  rootId: id.optional(),
  depth: z.int().optional(),
};

/** Every field of an item. */
export const fullItemShape = {
  id,
  ...itemHeadShape,
  description: z.string().nullable().optional(),
  statusLabel: z.string().nullable().optional(),
  previousRole: role.nullable().optional(),
  outcome: z.string().nullable().optional(),
  requiresVerification: z.boolean().optional(),
  metadata: z.string().nullable().optional(),
  properties: z.record(z.string(), z.unknown()).nullable().optional(),
  traits: csvText,
  needs: csvText,
  assignee: z.string().nullable().optional(),
  version: z.int(),
  attempts: z.int().optional(),
  dead: z.boolean().optional(),
  availableAt: at.nullable().optional(),
  dueAt: at.optional(),
  isClaimed: z.boolean().optional(),
  ancestors: z.array(ancestor).optional(),
  createdAt: at.optional(),
  modifiedAt: at.optional(),
  roleChangedAt: at.optional(),
};

export const blocker = answer({
  fromItemId: id,
  currentRole: z.string(),
  requiredRole: z.string(),
  title: z.string().optional(),
});
export type Blocker = z.output<typeof blocker>;

export const dependency = answer({
  id,
  fromItemId: id,
  toItemId: id,
  type: z.enum(DEPENDENCY_TYPES),
  unblockAt: threshold.nullable().optional(),
  onCancelled: z.enum(ON_CANCELLED).optional(),
});

/** A note the schema of an item expects in a role. */
export const expectedNote = answer({
  key: z.string(),
  role: z.string(),
  required: z.boolean(),
  exists: z.boolean(),
});

/** A note that a move asks for and nobody has written. */
export const missingNote = answer({
  key: z.string(),
  description: z.string().optional(),
  guidance: z.string().optional(),
  skill: z.string().optional(),
});

/** A note whose author should have been another one. Never who. */
export const violation = answer({
  key: z.string(),
  seat: z.string().optional(),
  constraint: z.string(),
  conflictingSeat: z.string().optional(),
});

/** What one element of a batch ran into; the other elements were handled. */
export const elementFailure = answer({
  index: z.int(),
  id: id.optional(),
  error: z.string(),
  errorCode: z.string(),
  errorKind: z.string(),
  hint: z.string().optional(),
  contendedItemId: id.optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type ElementFailure = z.output<typeof elementFailure>;

/** What every list by offset says of itself. */
export const offsetPage = { hasMore: z.boolean(), limit: z.int(), offset: z.int() };
