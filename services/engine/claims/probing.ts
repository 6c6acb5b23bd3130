/**
 * Which claims of a flush are probes. Where no root has a breaker, which is nearly always, this
 * asks the database nothing.
 */
import { beginProbes, lockDueProbes, type Probe } from "../../../db/stores/breaker-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ItemState } from "../../core/state.ts";
import type { World } from "../../core/world.ts";

export interface Probing {
  /** False in a root whose breaker is open, if this claim may not be its probe. */
  lets(itemId: string): boolean;
  /** A claim was given: the probe, if its root waits for one. */
  took(state: ItemState): void;
  /** Writes down what became a probe. */
  save(): Promise<void>;
}

/** After the items are locked, as always: two probes of a root would wait for each other the other way round. */
export async function openProbing(
  tx: Handle,
  breakers: ReadonlySet<string>,
  picked: readonly string[],
  world: World,
): Promise<Probing> {
  const rootOf = (itemId: string): string | undefined => world.find(itemId)?.rootId;
  const roots = new Set(
    breakers.size === 0 ? [] : picked.flatMap((id) => rootOf(id) ?? []).filter((root) => breakers.has(root)),
  );
  const due = roots.size === 0 ? new Set<string>() : await lockDueProbes(tx, [...roots]);
  const probes: Probe[] = [];
  return {
    lets(itemId) {
      const root = rootOf(itemId);
      return root === undefined || !roots.has(root) || due.has(root);
    },
    took({ id, rootId, fence }) {
      if (due.delete(rootId)) probes.push({ rootId, itemId: id, fence });
    },
    async save() {
      if (probes.length > 0) await beginProbes(tx, probes);
    },
  };
}
