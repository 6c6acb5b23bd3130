/**
 * Rules that look at more than one field of an object. They run even when single
 * fields are already faulty, so that one answer names everything that is wrong.
 */
import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";

/** Adds one fault. `code` replaces VALIDATION_ERROR where a rule has its own. */
export type AddFault = (path: readonly (string | number)[], message: string, code?: ErrorCode) => void;

export type CrossFieldRule = (value: Readonly<Record<string, unknown>>, add: AddFault) => void;

/** The arguments of `.superRefine` for a rule: `z.strictObject({…}).superRefine(...crossField(rule))`. */
export function crossField(
  rule: CrossFieldRule,
): [(value: unknown, ctx: z.core.$RefinementCtx) => void, { when: () => boolean }] {
  const check = (value: unknown, ctx: z.core.$RefinementCtx): void => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    rule(value as Record<string, unknown>, (path, message, code) => {
      ctx.addIssue({
        code: "custom",
        path: [...path],
        message,
        input: value,
        ...(code === undefined ? {} : { params: { code } }),
      });
    });
  };
  return [check, { when: () => true }];
}

/** Names what would be ignored: fields that belong to other operations of a tool than the one that is asked for. */
export function refuseMisplaced(
  call: Readonly<Record<string, unknown>>,
  operation: string,
  belongs: Readonly<Record<string, readonly string[]>>,
  add: AddFault,
): void {
  for (const [name, operations] of Object.entries(belongs)) {
    if (call[name] !== undefined && !operations.includes(operation))
      add([name], `does not go with ${operation}; it belongs to ${operations.join(" and ")}`);
  }
}

/**
 * The elements of a field that is meant to be a list of objects, each with its index.
 * Rules run on faulty input too, so anything may be there.
 */
export function elementsOf(value: unknown): [number, Readonly<Record<string, unknown>>][] {
  if (!Array.isArray(value)) return [];
  return [...value.entries()].filter((entry): entry is [number, Record<string, unknown>] => {
    const one: unknown = entry[1];
    return typeof one === "object" && one !== null;
  });
}

/** How many of the named fields are present. */
export function countPresent(value: Readonly<Record<string, unknown>>, names: readonly string[]): number {
  return names.filter((name) => value[name] !== undefined).length;
}
