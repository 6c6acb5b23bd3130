/**
 * Opens the breaker of a root in which most attempts fail for the environment's sake. Asked
 * after the commit of such a failure and never else: a claim and a completion pay nothing.
 */
import { lockRootEnds, openBreaker } from "../../../db/stores/breaker-store.ts";
import { judgeTrouble, TROUBLE_WINDOW_MS } from "../../core/breaker.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { transact } from "../writing/transact.ts";

const REASON_SHOWN = 500;

export async function considerFailures(deps: EngineDeps, world: World): Promise<void> {
  const said = new Map<string, string | null>();
  for (const { itemId, failure, detail } of world.ended) {
    const rootId = world.find(itemId)?.rootId;
    if (failure === "environment" && rootId !== undefined) said.set(rootId, detail);
  }
  for (const [rootId, detail] of said) {
    await transact(deps, async (tx) => {
      const ends = await lockRootEnds(tx, rootId, TROUBLE_WINDOW_MS);
      if (ends === null) return;
      const verdict = judgeTrouble(ends);
      if (verdict.kind === "leave") return;
      const reason = detail === null ? null : clipText(detail, REASON_SHOWN);
      await openBreaker(tx, { rootId, reason, ...ends, waitMs: verdict.waitMs });
    });
  }
}
