/** What an item needs may be had by somebody who is gone: found out from the claim clock, outside of transactions. */
import type { AdvanceRefusal } from "../../core/advance.ts";
import { freeIfLapsed } from "../claims/free-lapsed.ts";
import type { EngineDeps } from "../deps.ts";

/** True if a holder in the way had lapsed and is gone by now, so that trying again may succeed. */
export async function freeHolders(deps: EngineDeps, refusal: AdvanceRefusal): Promise<boolean> {
  if (refusal.code !== "resource_unavailable") return false;
  return (await freeIfLapsed(deps, refusal.contended.expired)) > 0;
}
