/**
 * Hot statements are written as text, kept whole in files of their own, and prepared
 * once per connection. Everything else goes through Kysely's builder.
 */
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
