/** What the rules make of items, edges and claims, against what the database says. */
import type { Kysely } from "kysely";
import type { Database } from "../../../db/schema.ts";
import { isSatisfied } from "../../../services/core/edges.ts";

/** Everything that is not as the rules derive it, in words; empty when all is well. */
export async function disagreements(db: Kysely<Database>): Promise<string[]> {
  const [items, states, edges, attempts] = await Promise.all([
    db.selectFrom("items").selectAll().execute(),
    db.selectFrom("item_state").selectAll().execute(),
    db.selectFrom("dependencies").selectAll().where("type", "=", "BLOCKS").execute(),
    db.selectFrom("attempts").selectAll().where("ended_at", "is", null).execute(),
  ]);
  const stateOf = new Map(states.map((state) => [state.item_id, state]));
  const blockers = new Map<string, number>();
  for (const edge of edges) {
    const from = stateOf.get(edge.from_item);
    const rule = {
      threshold: edge.unblock_at ?? ("terminal" as const),
      onCancelled: edge.on_cancelled ?? ("hold" as const),
    };
    if (from !== undefined && !isSatisfied(rule, from))
      blockers.set(edge.to_item, (blockers.get(edge.to_item) ?? 0) + 1);
  }
  const found: string[] = [];
  if (states.length !== items.length) found.push(`${items.length} items have ${states.length} states`);
  for (const item of items) {
    const state = stateOf.get(item.id);
    if (state === undefined) continue;
    const children = items.filter((one) => one.parent_id === item.id).map((one) => stateOf.get(one.id));
    const claim = attempts.filter((one) => one.item_id === item.id);
    const parent = item.parent_id === null ? undefined : stateOf.get(item.parent_id);
    const expected = {
      blockers: blockers.get(item.id) ?? 0,
      ancestor_blockers: item.ancestors.filter((id) => (blockers.get(id) ?? 0) > 0).length,
      open_children: children.filter((one) => one?.role !== "terminal").length,
      done_children: children.filter((one) => one?.outcome === "done").length,
      root_id: item.root_id,
      parent_id: item.parent_id,
      ancestors: item.ancestors,
      priority: item.priority,
      type: item.type,
      tags: item.tags,
      traits: item.traits,
      // Held, or free: the claim, its session, its expiry and its one open attempt say the same.
      fences: state.agent === null ? [] : [state.fence],
      holders: state.agent === null ? [] : [`${state.agent} ${state.session}`],
      expires: state.agent !== null,
    };
    const actual = {
      ...Object.fromEntries(
        Object.keys(expected).map((key) => [key, (state as Record<string, unknown>)[key]]),
      ),
      fences: claim.map((one) => one.fence),
      holders: claim.map((one) => `${one.agent} ${one.session}`),
      expires: state.expires_at !== null,
    } as Record<string, unknown>;
    for (const [key, value] of Object.entries(expected)) {
      if (JSON.stringify(actual[key]) !== JSON.stringify(value))
        found.push(
          `${item.id}.${key} is ${JSON.stringify(actual[key])}, and should be ${JSON.stringify(value)}`,
        );
    }
    if (state.role !== "terminal" && parent?.role === "terminal")
      found.push(`${item.id} is ${state.role} under a closed parent`);
    if (state.role === "terminal" && state.agent !== null) found.push(`${item.id} is closed and held`);
  }
  return found;
}
