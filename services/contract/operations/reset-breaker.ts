/** `reset_breaker`: an operator lets the items of a root be claimed again at once. REST only. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";

const input = z.strictObject({
  rootId: fields.fullId.describe("The root that is paused."),
  reason: fields.reason,
  actor: fields.actor,
  requestId: fields.requestId.optional(),
});
/** A parsed call. */
export type ResetBreakerInput = z.output<typeof input>;
export type ResetBreakerRequest = z.input<typeof input>;

const output = answer({
  rootId: id,
  /** False if it was not paused. */
  changed: z.boolean(),
  replayed: z.boolean().optional(),
});
export type ResetBreakerOutput = z.output<typeof output>;

function render({ rootId, changed }: ResetBreakerOutput): string {
  return changed ? `${rootId}: its items are offered again` : `${rootId} was not paused`;
}

export const resetBreaker = defineOperation({
  name: "reset_breaker",
  description: "Let the items of a paused root be claimed again at once, without waiting for a probe.",
  input,
  output,
  annotations: writes("Reset a breaker", { destructive: false }),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render,
});
