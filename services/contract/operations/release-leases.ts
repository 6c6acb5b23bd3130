/**
 * `release_leases`: an operator takes a resource away from whoever has it. The items stay in
 * work, and their holders are told at their next call. REST only.
 */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { bounded } from "../rendering.ts";

const input = z.strictObject({
  key: fields.resourceKey.describe("The resource."),
  reason: fields.reason,
  actor: fields.actor,
  requestId: fields.requestId.optional(),
});
/** A parsed call. */
export type ReleaseLeasesInput = z.output<typeof input>;

const output = answer({
  resourceKey: z.string(),
  releasedCount: z.int(),
  /** The items that had it. */
  itemIds: z.array(id),
  replayed: z.boolean().optional(),
});
export type ReleaseLeasesOutput = z.output<typeof output>;

function render(result: ReleaseLeasesOutput): string {
  return bounded([
    `${result.resourceKey}: ${result.releasedCount} released`,
    ...result.itemIds.map((one) => `  taken from ${one}, which stays in work`),
  ]);
}

export const releaseLeases = defineOperation({
  name: "release_leases",
  description: "Take a resource away from the items that have it.",
  input,
  output,
  annotations: writes("Release resource leases by force", { destructive: true }),
  capability: "admin",
  toolsets: [],
  mcp: false,
  render,
});
