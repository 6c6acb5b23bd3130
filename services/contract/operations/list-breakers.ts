/** `list_breakers`: roots in which claiming is paused, since their environment is broken. REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import { LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

const input = z.strictObject({});
/** A parsed call. */
export type ListBreakersInput = z.output<typeof input>;
export type ListBreakersRequest = z.input<typeof input>;

const breaker = answer({
  rootId: id,
  title: z.string(),
  openedAt: at,
  /** So many of so many attempts failed for the environment's sake. */
  failures: z.int(),
  ends: z.int(),
  /** What the last of them said. */
  reason: z.string().optional(),
  /** When the next claim is let through; absent while a probe is under way. */
  probeAt: at.optional(),
  probeItemId: id.optional(),
  /** Probes that have failed since. */
  failedProbes: z.int(),
});
export type ListedBreaker = z.output<typeof breaker>;

const output = answer({
  breakers: z.array(breaker),
  hasMore: z.boolean(),
});
export type ListBreakersOutput = z.output<typeof output>;

function render(result: ListBreakersOutput): string {
  return bounded([
    `${result.breakers.length} roots are paused`,
    ...result.breakers.map(
      (one) =>
        `${one.rootId} ${oneLine(one.title, 80)}: ${facts({ since: one.openedAt, failures: one.failures, of: one.ends, probeAt: one.probeAt, probing: one.probeItemId })} ${oneLine(one.reason ?? "", 200)}`,
    ),
  ]);
}

export const listBreakers = defineOperation({
  name: "list_breakers",
  description: `List roots in which claiming is paused, since most attempts failed for the environment's sake; up to ${LIST_LIMIT_MAX}.`,
  input,
  output,
  annotations: readsOnly("List breakers"),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render,
});
