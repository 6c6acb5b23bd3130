/** `query_audit`: who did what, with which credential, and what came of it. For operators; REST and CLI. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { ACTOR_ID_LENGTH_MAX, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";

const OUTCOMES = ["ok", "partial", "refused", "failed"] as const;
const word = z.string().min(1).max(ACTOR_ID_LENGTH_MAX);

const input = z.strictObject({
  itemId: fields.fullId.optional().describe("About this item, deleted or not."),
  agent: fields.agentName.optional(),
  credential: word.optional().describe("As answers show it: token:<id> or jwt:<subject>."),
  operation: word.optional().describe("A name like claim_item."),
  outcome: z.enum(OUTCOMES).optional(),
  requestId: word.optional().describe("As x-request-id has it."),
  since: fields.instant.optional(),
  until: fields.instant.optional(),
  before: z.int().min(1).optional().describe("Older than this entry: its id."),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
});
/** A parsed call. */
export type QueryAuditInput = z.output<typeof input>;

const entry = answer({
  id: z.int(),
  at,
  /** `call`, or the change that a call made, such as `item.deleted`. */
  action: z.string(),
  operation: z.string().optional(),
  credential: z.string().optional(),
  agent: z.string().optional(),
  session: z.string().optional(),
  itemId: id.optional(),
  /** What the call was about, as it was named. */
  target: z.string().optional(),
  outcome: z.enum(OUTCOMES).optional(),
  errorCode: z.string().optional(),
  latencyMs: z.int().optional(),
  requestId: z.string().optional(),
  /** Of the operation and its arguments: equal for equal calls. */
  argsSha256: z.string().optional(),
});
export type AuditEntryAnswer = z.output<typeof entry>;

const output = answer({
  entries: z.array(entry),
  hasMore: z.boolean(),
  /** Pass as `before` for what is older. */
  nextBefore: z.int().optional(),
});
export type QueryAuditOutput = z.output<typeof output>;

function render({ entries, hasMore }: QueryAuditOutput): string {
  return bounded([
    `${entries.length} entries${hasMore ? ", and more" : ""}, newest first`,
    ...entries.map(
      (one) =>
        `${one.at} ${one.operation ?? one.action} ${facts({ outcome: one.outcome, error: one.errorCode, agent: one.agent, credential: one.credential, about: one.itemId ?? one.target })}`,
    ),
  ]);
}

export const queryAudit = defineOperation({
  name: "query_audit",
  description: "List calls that changed something or were refused, and the changes they made, newest first.",
  input,
  output,
  annotations: readsOnly("Query the audit"),
  capability: "admin",
  toolsets: [],
  mcp: false,
  render,
});
