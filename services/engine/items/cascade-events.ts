/** What a change set off above an item, as callers read it. */
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { CascadeEvent } from "../../core/cascade.ts";

export interface NamedCascade extends Omit<CascadeEvent, "held"> {
  readonly title: string;
  readonly heldByAnother?: true;
}

export async function nameCascades(handle: Handle, events: readonly CascadeEvent[]): Promise<NamedCascade[]> {
  const titles = await findTitles(
    handle,
    events.map((event) => event.itemId),
  );
  return events.map(({ held, ...event }) => ({
    ...event,
    title: titles.get(event.itemId) ?? "",
    ...(held === undefined ? {} : { heldByAnother: true as const }),
  }));
}
