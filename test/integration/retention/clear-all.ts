/** Rounds of retention until there is nothing left to do. */
import type { Engine } from "../../../services/engine/engine.ts";

export async function clearAll(engine: Pick<Engine, "retain">): Promise<number> {
  const { signal } = new AbortController();
  let total = 0;
  for (;;) {
    const { deleted, more } = await engine.retain(signal);
    total += deleted;
    if (!more) return total;
  }
}
