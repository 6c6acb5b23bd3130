/** `list_attempts`: the tenures of an item, who held it from when to when and how that ended. REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";

const input = z.strictObject({
  itemId: fields.itemRef,
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListAttemptsInput = z.output<typeof input>;
export type ListAttemptsRequest = z.input<typeof input>;

const attempt = answer({
  fence: z.int(),
  agent: z.string(),
  /** Only the beginning: who knows a whole session id can act as its worker. */
  session: z.string().optional(),
  parent: z.string().optional(),
  claimedAt: at,
  /** Absent while it goes on. */
  endedAt: at.optional(),
  endReason: z.enum(["completed", "released", "expired", "revoked", "failed"]).optional(),
  detail: z.string().optional(),
  usage: z.record(z.string(), z.unknown()).optional(),
});
export type ListedAttempt = z.output<typeof attempt>;

const output = answer({
  itemId: id,
  attempts: z.array(attempt),
  total: z.int(),
  ...offsetPage,
});
export type ListAttemptsOutput = z.output<typeof output>;

function render(result: ListAttemptsOutput): string {
  return bounded([
    `${result.attempts.length} of ${result.total} attempts of ${result.itemId}, newest first`,
    ...result.attempts.map(
      (one) =>
        `${one.agent} ${facts({ fence: one.fence, from: one.claimedAt, to: one.endedAt, ended: one.endReason, detail: one.detail })}`,
    ),
  ]);
}

export const listAttempts = defineOperation({
  name: "list_attempts",
  description: "List who held an item from when to when, and how each tenure ended, newest first.",
  input,
  output,
  annotations: readsOnly("List the attempts of an item"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
