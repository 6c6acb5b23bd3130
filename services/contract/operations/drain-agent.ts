/**
 * `drain_agent`: an operator lets an agent finish what it holds and take nothing new, or lets
 * it take again. The agent is told with its next claim, which is refused `agent_drained`, and
 * with every renewal. A claim that is being given in the very same instant may still stand;
 * `revokeClaims` also ends what the agent holds. REST only.
 */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, at, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { facts } from "../rendering.ts";

const input = z.strictObject({
  agent: fields.agentName.describe("Whom: its actor.id."),
  drained: fields.flag.default(true).describe("false: it may take items again."),
  revokeClaims: fields.flag.default(false).describe("true: also end what it holds, up to 100 claims."),
  reason: fields.reason,
  actor: fields.actor,
  requestId: fields.requestId.optional(),
});
/** A parsed call. */
export type DrainAgentInput = z.output<typeof input>;
export type DrainAgentRequest = z.input<typeof input>;

const output = answer({
  agent: z.string(),
  drained: z.boolean(),
  /** Since when; absent once it is drained no more. */
  drainedAt: at.optional(),
  /** False if it was so before. */
  changed: z.boolean(),
  /** What it still holds. */
  claims: z.int(),
  revokedItemIds: z.array(id).optional(),
  replayed: z.boolean().optional(),
});
export type DrainAgentOutput = z.output<typeof output>;

function render(result: DrainAgentOutput): string {
  const state = result.drained ? "is drained: it gets no new item" : "may take items";
  return `${result.agent} ${state} ${facts({ since: result.drainedAt, holds: result.claims, revoked: result.revokedItemIds?.length })}`.trim();
}

export const drainAgent = defineOperation({
  name: "drain_agent",
  description: "Let an agent finish what it holds and take nothing new, or let it take items again.",
  input,
  output,
  annotations: writes("Drain an agent", { destructive: true }),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render,
});
