/**
 * The brief that comes with a claim. Read after the claim was committed, so that no lock is held
 * for it; the claim stands, whatever becomes of the reading.
 */
import { type ClaimEntry, type ClaimResult, isGranted } from "../../contract/claiming.ts";
import type { EngineDeps } from "../deps.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { readBrief } from "./read-brief.ts";

export async function withBrief(
  deps: EngineDeps,
  entry: Pick<ClaimEntry, "include">,
  result: ClaimResult,
): Promise<ClaimResult> {
  if (entry.include !== "brief" || !isGranted(result)) return result;
  const { itemId } = result;
  try {
    return { ...result, brief: await inSnapshot(deps, (handle) => readBrief(deps, handle, itemId)) };
  } catch (error) {
    deps.log.warn({ err: error, itemId }, "a claim was answered without its brief");
    const warning = "the brief could not be read: ask for it with get_context mode=brief";
    return { ...result, warnings: [...(result.warnings ?? []), warning] };
  }
}
