/** `list_agents`: the agents that were seen, and what each one holds. For operators; REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";

const input = z.strictObject({
  holding: fields.flag.optional().describe("true: only agents that hold something."),
  drained: fields.flag.optional().describe("true: only those that may take nothing new."),
  seenAfter: fields.instant.optional(),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListAgentsInput = z.output<typeof input>;
export type ListAgentsRequest = z.input<typeof input>;

const agent = answer({
  agent: z.string(),
  kind: z.string().optional(),
  parent: z.string().optional(),
  firstSeenAt: at.optional(),
  lastSeenAt: at,
  capabilities: z.array(z.string()).optional(),
  /** Since when it may take nothing new, and why. */
  drainedAt: at.optional(),
  drainReason: z.string().optional(),
  claims: z.int(),
  holds: z.array(answer({ itemId: id, title: z.string(), claimExpiresAt: at.optional() })).optional(),
  /** Those that it began within the last day, by how they ended. */
  attempts: answer({
    open: z.int().optional(),
    completed: z.int().optional(),
    released: z.int().optional(),
    expired: z.int().optional(),
    revoked: z.int().optional(),
    failed: z.int().optional(),
  }).optional(),
});
export type ListedAgent = z.output<typeof agent>;

const output = answer({
  agents: z.array(agent),
  total: z.int(),
  ...offsetPage,
});
export type ListAgentsOutput = z.output<typeof output>;

function render(result: ListAgentsOutput): string {
  return bounded([
    `${result.agents.length} of ${result.total} agents`,
    ...result.agents.map((one) => {
      const held = (one.holds ?? []).map((item) => item.itemId);
      return `${one.agent} ${facts({ kind: one.kind, lastSeen: one.lastSeenAt, claims: one.claims, holds: held.length ? held : undefined })}`;
    }),
  ]);
}

export const listAgents = defineOperation({
  name: "list_agents",
  description: "List the agents that were seen, when last, and what they hold.",
  input,
  output,
  annotations: readsOnly("List agents"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
