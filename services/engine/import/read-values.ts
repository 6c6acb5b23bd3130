/** Single values of a source row: each as Muster has it, or what is wrong with it. */
import type { SourceRow } from "./source.ts";

/** Thrown for a row that cannot come over; its message is the reason. */
export class Unfit extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "Unfit";
  }
}

/** A row with remarks about values that were changed on the way. */
export interface Fit<T> {
  readonly row: T;
  readonly changes: readonly string[];
}

/** Ids are 16 bytes. */
export function idOf(value: unknown): string | null {
  if (!(value instanceof Uint8Array) || value.length !== 16) return null;
  const hex = Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** For reports: also what is no id can be looked for. */
export function shownId(value: unknown): string {
  const id = idOf(value);
  if (id !== null) return id;
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex").slice(0, 64)}`;
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, 64) : "(no id)";
}

export function needId(row: SourceRow, column: string): string {
  const id = idOf(row[column]);
  if (id === null) throw new Unfit(`${column} is no id of 16 bytes`);
  return id;
}

export function optionalId(row: SourceRow, column: string): string | null {
  return row[column] === null || row[column] === undefined ? null : needId(row, column);
}

export function optionalText(row: SourceRow, column: string, lengthMax?: number): string | null {
  const value = row[column];
  if (value === null || value === undefined) return null;
  if (typeof value !== "string") throw new Unfit(`${column} is no text`);
  if (value.includes("\0")) throw new Unfit(`${column} has a NUL character, which PostgreSQL cannot hold`);
  if (lengthMax !== undefined && value.length > lengthMax)
    throw new Unfit(`${column} has ${value.length} characters; at most ${lengthMax} are kept`);
  return value;
}

export function needText(row: SourceRow, column: string, lengthMax?: number): string {
  const value = optionalText(row, column, lengthMax);
  if (value === null || value.trim() === "") throw new Unfit(`${column} is blank`);
  return value;
}

export function oneOf<T extends string>(row: SourceRow, column: string, allowed: readonly T[]): T {
  const value = row[column];
  const found = allowed.find((one) => one === value);
  if (found === undefined)
    throw new Unfit(`${column} is ${JSON.stringify(value)}, not one of ${allowed.join(", ")}`);
  return found;
}

export function optionalOneOf<T extends string>(
  row: SourceRow,
  column: string,
  allowed: readonly T[],
): T | null {
  return row[column] === null || row[column] === undefined ? null : oneOf(row, column, allowed);
}

export function integer(row: SourceRow, column: string, min: number, max: number): number {
  const value = Number(row[column]);
  if (row[column] === null || !Number.isInteger(value) || value < min || value > max)
    throw new Unfit(`${column} is ${String(row[column])}, not a whole number from ${min} to ${max}`);
  return value;
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d{1,9})?Z?$/;

/** Text of the source's clock, in UTC, as ISO text; the database keeps microseconds. */
export function instant(row: SourceRow, column: string): string {
  const value = row[column];
  const [, day, time, fraction = ""] = typeof value === "string" ? (INSTANT.exec(value) ?? []) : [];
  const text = day === undefined ? "" : `${day}T${time}${fraction.slice(0, 7)}Z`;
  const parsed = new Date(text);
  // A day that no month has is moved on by the parser, and meant nothing.
  if (Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== day)
    throw new Unfit(`${column} is ${JSON.stringify(value ?? null)}, not an instant`);
  return text;
}

/** An object written as JSON. */
export function jsonOf(row: SourceRow, column: string): unknown {
  const text = optionalText(row, column);
  if (text === null || text.trim() === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Unfit(`${column} is no JSON`);
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
