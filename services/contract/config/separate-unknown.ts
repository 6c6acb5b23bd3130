/**
 * Takes out of a value the keys that its schema does not know. A configuration is written for
 * several readers and may say what is not for us; but a key that is one slip away from one that
 * we know is a fault, since whoever wrote `requierd: true` believes that a gate is closed.
 */
import { nearestName } from "../unknown-key.ts";

/** As much of JSON Schema as says which keys are known where. */
export interface KnownKeys {
  readonly properties?: Readonly<Record<string, KnownKeys>>;
  readonly additionalProperties?: KnownKeys | boolean;
  readonly items?: KnownKeys;
  readonly anyOf?: readonly KnownKeys[];
  readonly type?: string;
}

export interface UnknownKey {
  readonly path: readonly PropertyKey[];
  readonly key: string;
  /** What was probably meant. */
  readonly near: string | undefined;
}

export interface Separated {
  readonly value: unknown;
  readonly unknown: readonly UnknownKey[];
}

export function separateUnknown(known: KnownKeys, value: unknown): Separated {
  const unknown: UnknownKey[] = [];
  return { value: walk(known, value, [], unknown), unknown };
}

function walk(known: KnownKeys, value: unknown, path: readonly PropertyKey[], found: UnknownKey[]): unknown {
  if (known.anyOf !== undefined) {
    const fits = known.anyOf.find((one) => typeFits(one, value));
    return fits === undefined ? value : walk(fits, value, path, found);
  }
  if (Array.isArray(value)) {
    const { items } = known;
    return items === undefined ? value : value.map((one, index) => walk(items, one, [...path, index], found));
  }
  if (!isRecord(value)) return value;
  const { properties, additionalProperties: others } = known;
  if (properties === undefined && typeof others !== "object") return value;
  const kept: [string, unknown][] = [];
  for (const [key, one] of Object.entries(value)) {
    const below = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : others;
    if (typeof below === "object") kept.push([key, walk(below, one, [...path, key], found)]);
    else found.push({ path, key, near: nearestName(key, Object.keys(properties ?? {})) });
  }
  return Object.fromEntries(kept);
}

function typeFits({ type }: KnownKeys, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  return type === "object" && isRecord(value);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
