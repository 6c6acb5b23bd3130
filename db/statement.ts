/**
 * Hot statements are written as text, kept whole in files of their own, and prepared
 * once per connection. Everything else goes through Kysely's builder.
 */
import { createHash } from "node:crypto";
import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** A handle that statements run on: the database, or one transaction of it. */
export type Handle = Kysely<Database>;

const names = new Map<string, string>();

/** The name under which a connection prepares `text`, if it is one of the hot statements. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}

/**
 * Declares a statement. `name` shows up in `pg_prepared_statements` and in logs.
 * Row is what the caller says that the statement returns; the stores are the only ones to say it.
 */
export function statement<Row>(
  name: string,
  text: string,
): (handle: Handle, parameters: readonly unknown[]) => Promise<Row[]> {
  names.set(text, name);
  return async (handle, parameters) => {
    const result = await handle.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
    return result.rows;
  };
}

/** More generated texts than this are not worth a plan kept on every connection. */
const GENERATED_MAX = 512;
const generated = new Map<string, ReturnType<typeof statement<unknown>>>();

/**
 * Runs a text that was put together for this call. Equal texts are prepared once, under a
 * name made of the text itself, so that processes that share a pooled connection agree.
 */
export async function runGenerated<Row>(
  handle: Handle,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  let run = generated.get(text);
  if (run === undefined && generated.size < GENERATED_MAX) {
    run = statement<unknown>(`q_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`, text);
    generated.set(text, run);
  }
  if (run !== undefined) return (await run(handle, values)) as Row[];
  return (await handle.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows;
}
