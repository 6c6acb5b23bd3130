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

const heldBy = statement<{ item_id: string; agent: string; session: string }>(
  "holders_held",
  `select s.item_id, s.agent, s.session from item_state s
   join jsonb_to_recordset($1::jsonb) as c(agent text, session text)
     on s.agent = c.agent and ($2 or s.session = c.session)
   where s.agent is not null
   order by s.item_id
   limit 1000`,
);

export interface HeldItem extends Holder {
  readonly itemId: string;
}

/** Everything that these holders hold. */
export async function findHeldBy(
  handle: Handle,
  holders: readonly Holder[],
  identity: Identity,
): Promise<HeldItem[]> {
  if (holders.length === 0) return [];
  const rows = await heldBy(handle, [
    JSON.stringify(holders.map(({ agent, session }) => ({ agent, session }))),
    identity === "actor",
  ]);
  return rows.map((row) => ({ itemId: row.item_id, agent: row.agent, session: row.session }));
}

const particular = statement<{ agent: string }>(
  "holders_particular",
  `select distinct s.assignee as agent from item_state s
   where s.assignee = any($1::text[]) and s.role in ('queue', 'work', 'review')
   union
   select s.agent from item_state s where s.agent = any($1::text[]) and s.open_children > 0`,
);

/**
 * Agents to whom something is offered that is not offered to everybody: items assigned
 * to them, and what lies below a container that they hold. All others of a batch can
 * share one selection.
 */
export async function findParticularAgents(handle: Handle, agents: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await particular(handle, [agents]);
  return new Set(rows.map((row) => row.agent));
}
