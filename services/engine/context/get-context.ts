/** `get_context`: one snapshot per mode; see each mode's file. */
import type { GetContextInput } from "../../contract/operations/get-context.ts";
import type { ContextAnswer } from "../../contract/contexts.ts";
import type { Waiters } from "../claims/waiters.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { agentContext } from "./agent-context.ts";
import { healthContext, sessionContext } from "./board-context.ts";
import { itemContext } from "./item-gate.ts";
import { readBrief } from "./read-brief.ts";

export async function getContext(
  deps: EngineDeps,
  waiters: Waiters,
  input: GetContextInput,
  caller: Caller,
): Promise<ContextAnswer> {
  switch (input.mode) {
    case "item":
      return await itemContext(deps, input, caller);
    case "brief":
      return await inSnapshot(deps, async (handle) => {
        const itemId = await requireItem(handle, input.itemId, caller);
        return { mode: "brief" as const, ...(await readBrief(deps, handle, itemId, input.budgetBytes)) };
      });
    case "agent":
      return await agentContext(deps, waiters, input, caller);
    case "session-resume":
      return await inSnapshot(deps, (handle) => sessionContext(deps, handle, input, caller));
    case "health-check":
      return await inSnapshot(deps, (handle) => healthContext(deps, handle, input, caller));
  }
}
