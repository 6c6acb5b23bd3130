/**
 * The one way into an operation: a raw value becomes the parsed input, or one error
 * that names every fault with its path, its cause and what would be right.
 *
 * A correct input costs one pass. Only what is refused is adapted (`adapt-input.ts`)
 * and tried once more.
 */
import type { z } from "zod";
import { adaptInput } from "./adapt-input.ts";
import { fault, isErrorCode, type ErrorCode, type MusterError } from "./errors.ts";
import { schemasOf } from "./json-schema.ts";
import type { Operation } from "./operation.ts";
import { unknownKeyFault } from "./unknown-key.ts";

const FAULTS_SHOWN_MAX = 20;

interface Fault {
  readonly path: string;
  readonly message: string;
}

/**
 * Parses the input of an operation.
 * @throws MusterError VALIDATION_ERROR, or the code of the rule that was broken.
 */
export function parseInput<I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  raw: unknown,
): z.output<I> {
  const first = operation.input.safeParse(raw, { error: describe });
  if (first.success) return first.data;
  const any = operation as unknown as Operation;
  const adapted = adaptInput(operation.name, raw, schemasOf(any).parsed);
  const second = operation.input.safeParse(adapted, { error: describe });
  if (second.success) return second.data;
  throw refusal(any, second.error.issues);
}

function refusal(operation: Operation, issues: readonly z.core.$ZodIssue[]): MusterError {
  const code = codeOf(issues);
  const decisive = issues.filter((issue) => codeOfIssue(issue) !== undefined);
  const rest = issues.filter((issue) => codeOfIssue(issue) === undefined);
  const faults = [...decisive, ...rest].flatMap((issue) => faultsOf(operation, issue));
  const shown = faults.slice(0, FAULTS_SHOWN_MAX);
  const lines = shown.map((one) => (one.path === "" ? one.message : `${one.path}: ${one.message}`));
  const more = faults.length > shown.length ? `; and ${faults.length - shown.length} more` : "";
  return fault(code, `${operation.name}: ${lines.join("; ")}${more}`, { details: { faults: shown } });
}

/** A rule with a code of its own decides the code of the whole error. */
function codeOf(issues: readonly z.core.$ZodIssue[]): ErrorCode {
  return issues.map(codeOfIssue).find((code) => code !== undefined) ?? "VALIDATION_ERROR";
}

function codeOfIssue(issue: z.core.$ZodIssue): ErrorCode | undefined {
  const code: unknown = issue.code === "custom" ? issue.params?.code : undefined;
  return isErrorCode(code) ? code : undefined;
}

function faultsOf(operation: Operation, issue: z.core.$ZodIssue): Fault[] {
  const path = pathText(issue.path);
  if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
  const { parsed } = schemasOf(operation);
  return issue.keys.map((key) => ({
    path,
    message: unknownKeyFault(operation.name, parsed, issue.path, key),
  }));
}

/** `["claims", 0, "ttlSeconds"]` as `claims[0].ttlSeconds`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Words for the faults that schemas do not word themselves. */
export function describe(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const wanted = TYPE_NAMES[issue.expected] ?? issue.expected;
      if (issue.input === undefined) return `is missing; it must be ${wanted}`;
      return `must be ${wanted}, not ${kindOf(issue.input)}${issue.input === null ? " (leave out what you do not want to set)" : ""}`;
    }
    case "invalid_value": {
      const allowed = (issue.values as unknown[]).join(", ");
      if (issue.input === undefined) return `is missing; use one of ${allowed}`;
      return `must be one of ${allowed}, not ${kindOf(issue.input)}`;
    }
    case "too_big":
      return `must be ${sizeText(issue.origin, "at most", Number(issue.maximum))}${actualSize(issue.input)}`;
    case "too_small":
      return `must be ${sizeText(issue.origin, "at least", Number(issue.minimum))}${actualSize(issue.input)}`;
    default:
      return undefined;
  }
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return `the string "${value.slice(0, 40)}"`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : "an object";
}

function sizeText(origin: string, bound: string, limit: number): string {
  if (origin === "string") return limit === 1 ? "filled in" : `${bound} ${limit} characters long`;
  return origin === "array" ? `a list of ${bound} ${limit}` : `${bound} ${limit}`;
}

function actualSize(value: unknown): string {
  if (typeof value === "number") return `, not ${value}`;
  if (typeof value === "string" || Array.isArray(value))
    return value.length === 0 ? ", not empty" : `, not ${value.length}`;
  return "";
}
