/** What tests of reminders and schedules do again and again. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { isMusterError } from "../../../services/contract/errors.ts";
import type { FireReport } from "../../../services/engine/engine.ts";
import type { Bench } from "../claims/engines.ts";

export interface EventRow {
  readonly type: string;
  readonly item_id: string | null;
  readonly data: Record<string, unknown>;
}

/** An item of its own; its id. */
export async function makeItem({ engine }: Bench, fields: Record<string, unknown> = {}): Promise<string> {
  const made = (await engine.call("manage_items", {
    operation: "create",
    items: [{ title: `item ${randomUUID()}`, ...fields }],
  })) as { readonly items: readonly { readonly id: string }[] };
  return made.items[0]?.id ?? "";
}

/** The instant so many seconds from now by the database's clock, with its milliseconds. */
export async function inSeconds({ database }: Bench, seconds: number): Promise<string> {
  const { rows } = await sql<{ at: Date }>`select muster_now() as at`.execute(database.db);
  return new Date((rows[0]?.at.getTime() ?? 0) + seconds * 1000).toISOString();
}

/** Fires all that is due, as often as there is more. What was fired. */
export async function fireAll({ engine }: Bench): Promise<Omit<FireReport, "more">> {
  const signal = new AbortController().signal;
  const sum: Record<string, number> = {};
  for (;;) {
    const { more, ...fired } = await engine.engine.fireDue(signal);
    for (const [name, count] of Object.entries(fired)) sum[name] = (sum[name] ?? 0) + count;
    if (!more) return sum as unknown as Omit<FireReport, "more">;
  }
}

export async function eventsOf({ database }: Bench, itemId: string, type: string): Promise<EventRow[]> {
  return await database.db
    .selectFrom("events")
    .select(["type", "item_id", "data"])
    .where("item_id", "=", itemId)
    .where("type", "=", type)
    .orderBy("seq")
    .execute();
}

/** Code of the refusal. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!isMusterError(error)) throw new Error("it was not refused", { cause: error });
  return error.code;
}
