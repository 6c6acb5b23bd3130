/** Chooses an item for each call of a flush: by id as asked, by selector one ranked scan per distinct predicate. */
import { selectCandidates } from "../../../db/stores/next-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ClaimCall } from "./claim-call.ts";
import type { Predicate } from "./predicate.ts";

interface Group {
  readonly predicate: Predicate;
  /** Set when what is offered depends on who asks. */
  readonly agent: string | null;
  readonly calls: ClaimCall[];
}

/**
 * @param particular agents to whom something is offered that is not offered to everybody
 * @returns the item of each call that got one; rows chosen by a selector are locked
 */
export async function pickItems(
  tx: Handle,
  calls: readonly ClaimCall[],
  particular: ReadonlySet<string>,
): Promise<Map<ClaimCall, string>> {
  const picked = new Map<ClaimCall, string>();
  const groups = new Map<string, Group>();
  for (const call of calls) {
    if (call.target.kind === "item") {
      picked.set(call, call.target.itemId);
      continue;
    }
    const { predicate } = call.target;
    const agent = particular.has(call.agent) ? call.agent : null;
    const key = `${agent ?? ""}\u0001${predicate.key}`;
    const group = groups.get(key);
    if (group) group.calls.push(call);
    else groups.set(key, { predicate, agent, calls: [call] });
  }
  // The transaction's own locks do not make a row skipped, so what one group chose is taken out for the next.
  const taken = new Set<string>();
  for (const group of groups.values()) {
    const ids = await pickForGroup(tx, group, taken);
    for (const [index, call] of group.calls.entries()) {
      const id = ids[index];
      if (id !== undefined) picked.set(call, id);
    }
  }
  return picked;
}

async function pickForGroup(tx: Handle, group: Group, taken: Set<string>): Promise<string[]> {
  const { predicate, agent, calls } = group;
  const found = await selectCandidates(tx, {
    filter: predicate.filter,
    asker: { agent, capabilities: predicate.capabilities },
    roles: predicate.roles,
    containers: predicate.containers,
    startable: predicate.startable,
    ranking: predicate.ranking,
    limit: calls.length + taken.size,
    lock: true,
  });
  const ids = found.filter((id) => !taken.has(id)).slice(0, calls.length);
  for (const id of ids) taken.add(id);
  return ids;
}
