/** Chooses an item for each call of a flush by selector: one ranked scan per distinct predicate. */
import { type CandidateQuery, selectCandidates } from "../../../db/stores/next-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ClaimCall } from "./claim-call.ts";
import type { Predicate } from "./predicate.ts";

/** Callers who are offered the same. */
export interface Group {
  readonly predicate: Predicate;
  /** Set when what is offered depends on who asks. */
  readonly agent: string | null;
  readonly calls: ClaimCall[];
}

/** @param particular agents to whom something is offered that is not offered to everybody */
export function groupCalls(calls: readonly ClaimCall[], particular: ReadonlySet<string>): Group[] {
  const groups = new Map<string, Group>();
  for (const call of calls) {
    if (call.target.kind === "item") continue;
    const { predicate } = call.target;
    // A review may be kept from one of them who did the work: what is offered depends on who asks.
    const asksForReview = predicate.roles.includes("review");
    const agent = asksForReview || particular.has(call.agent) ? call.agent : null;
    const key = `${agent ?? ""}\u0001${predicate.key}`;
    const group = groups.get(key);
    if (group) group.calls.push(call);
    else groups.set(key, { predicate, agent, calls: [call] });
  }
  return [...groups.values()];
}

export function candidatesOf({ predicate, agent }: Group, limit: number): Omit<CandidateQuery, "lock"> {
  return {
    filter: predicate.filter,
    asker: { agent, capabilities: predicate.capabilities },
    roles: predicate.roles,
    containers: predicate.containers,
    startable: predicate.startable,
    ranking: predicate.ranking,
    limit,
  };
}

/**
 * @param before items that this transaction has chosen already: its own locks do not make a row skipped
 * @returns the item of each call that got one; the rows are locked
 */
export async function pickItems(
  tx: Handle,
  calls: readonly ClaimCall[],
  particular: ReadonlySet<string>,
  before: ReadonlySet<string>,
): Promise<Map<ClaimCall, string>> {
  const picked = new Map<ClaimCall, string>();
  const taken = new Set(before);
  for (const group of groupCalls(calls, particular)) {
    const found = await selectCandidates(tx, {
      ...candidatesOf(group, group.calls.length + taken.size),
      lock: true,
    });
    const ids = found.filter((id) => !taken.has(id)).slice(0, group.calls.length);
    for (const [index, call] of group.calls.entries()) {
      const id = ids[index];
      if (id === undefined) break;
      picked.set(call, id);
      taken.add(id);
    }
  }
  return picked;
}
