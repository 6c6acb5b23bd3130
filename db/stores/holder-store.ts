/** Who holds what, asked by holder; and the lock that makes one claim per holder true. */
import type { Identity } from "../../services/core/claim.ts";
import type { Holder } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";

/** One text for one holder; under `identity: actor` the name alone. */
export function holderKey(holder: Holder, identity: Identity): string {
  return identity === "actor" ? holder.agent : `${holder.agent}\u0001${holder.session}`;
}

const tryLock = statement<{ key: string; locked: boolean }>(
  "holders_try_lock",
  `select k.key, pg_try_advisory_xact_lock(hashtextextended(k.key, 7)) as locked
   from unnest($1::text[]) as k(key) order by k.key`,
);

const waitLock = statement<never>(
  "holders_lock",
  `select pg_advisory_xact_lock(hashtextextended(k.key, 7)) from unnest($1::text[]) as k(key) order by k.key`,
);

/** Locks the holders until the end of the transaction. With `wait` false, answers those that were busy. */
export async function lockHolders(handle: Handle, keys: readonly string[], wait: boolean): Promise<string[]> {
  if (keys.length === 0) return [];
  if (wait) {
    await waitLock(handle, [keys]);
    return [];
  }
  const rows = await tryLock(handle, [keys]);
  return rows.filter((row) => !row.locked).map((row) => row.key);
}

interface ConcernRow {
  item_id: string | null;
  agent: string;
  session: string | null;
  container: boolean;
}

const concerns = statement<ConcernRow>(
  "holders_concerns",
  `select s.item_id, s.agent, s.session, s.open_children > 0 as container
   from item_state s
   where s.agent = any($1::text[]) and ($3 or s.session = any($2::text[]) or s.open_children > 0)
   union all
   select null, a.assignee, null, false
   from (select distinct s.assignee from item_state s
     where s.assignee = any($1::text[]) and s.role <> 'terminal') a`,
);

export interface HeldItem extends Holder {
  readonly itemId: string;
}

export interface HolderConcerns {
  /** Everything that these holders hold. */
  readonly held: readonly HeldItem[];
  /**
   * Agents to whom something is offered that is not offered to everybody: items assigned
   * to them, and what lies below a container that they hold. All others of a batch can
   * share one selection.
   */
  readonly particular: ReadonlySet<string>;
}

export async function findConcerns(
  handle: Handle,
  holders: readonly Holder[],
  identity: Identity,
): Promise<HolderConcerns> {
  const rows = await concerns(handle, [
    [...new Set(holders.map((holder) => holder.agent))],
    [...new Set(holders.map((holder) => holder.session))],
    identity === "actor",
  ]);
  const keys = new Set(holders.map((holder) => holderKey(holder, identity)));
  const held: HeldItem[] = [];
  const particular = new Set<string>();
  for (const { item_id: itemId, agent, session, container } of rows) {
    if (itemId === null || container) particular.add(agent);
    if (itemId === null || session === null) continue;
    if (keys.has(holderKey({ agent, session }, identity))) held.push({ itemId, agent, session });
  }
  return { held, particular };
}
