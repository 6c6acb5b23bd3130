/**
 * A root as lines of JSON:
 *
 *   {"muster":"root","format":1,"rootId":…,"version":…}   the head
 *   {"table":"items","row":{…}}                           one line a row, in the order of insertion
 *   {"muster":"end","rows":{"items":3,…}}                 the end: a file that was cut off has none
 *
 * Rows are those of the database: nothing is lost on the way, and a reader needs no other text.
 */
import { z } from "zod";

export const BUNDLE_FORMAT = 1;

const head = z.looseObject({ muster: z.literal("root"), format: z.int(), rootId: z.uuid() });
const row = z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) });
const end = z.object({ muster: z.literal("end"), rows: z.record(z.string(), z.int()) });

export interface Bundle {
  readonly rootId: string;
  readonly rows: ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>;
}

/** The file cannot be imported; the message says which line, and why. */
export class UnfitBundle extends Error {}

/** @throws UnfitBundle */
export async function readBundle(lines: AsyncIterable<string>): Promise<Bundle> {
  const rows = new Map<string, Readonly<Record<string, unknown>>[]>();
  let rootId: string | null = null;
  let counted: Readonly<Record<string, number>> | null = null;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    if (counted !== null) throw new UnfitBundle(`line ${number} comes after the end`);
    const value = parseLine(line, number);
    if (rootId === null) rootId = readHead(value);
    else if (end.safeParse(value).success) counted = end.parse(value).rows;
    else {
      const read = row.safeParse(value);
      if (!read.success) throw new UnfitBundle(`line ${number} is neither a row nor the end`);
      const list = rows.get(read.data.table) ?? [];
      list.push(read.data.row);
      rows.set(read.data.table, list);
    }
  }
  if (rootId === null) throw new UnfitBundle("the file is empty");
  if (counted === null) throw new UnfitBundle("the file has no end: it was cut off; export it again");
  for (const [table, count] of Object.entries(counted)) {
    const found = rows.get(table)?.length ?? 0;
    if (found !== count)
      throw new UnfitBundle(`the file has ${found} rows of ${table}, and says that it has ${count}`);
  }
  return { rootId, rows };
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw new UnfitBundle(`line ${number} is not JSON`);
  }
}

function readHead(value: unknown): string {
  const read = head.safeParse(value);
  if (!read.success)
    throw new UnfitBundle("this is no file that `muster export` made: its first line does not say so");
  if (read.data.format > BUNDLE_FORMAT)
    throw new UnfitBundle(
      `the file has format ${read.data.format}, and this version reads ${BUNDLE_FORMAT}: use a newer Muster`,
    );
  return read.data.rootId;
}
