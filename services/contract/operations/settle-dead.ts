/**
 * `replay_dead` and `discard_dead`: what a person decides about items whose attempts are used
 * up. Replayed, they stand where they stood, with nothing counted against them; discarded,
 * they are cancelled. No agent may reset the count: it would go on failing for ever. REST only.
 */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer } from "../answers.ts";
import { bulkAnswerShape, bulkShape, movedItem, namesOneSet } from "../bulk.ts";
import { crossField } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import { bounded, oneLine } from "../rendering.ts";
import { DEAD_FILTERS, deadFilterShape } from "./list-dead.ts";

const input = z
  .strictObject({ ...bulkShape, ...deadFilterShape })
  .superRefine(...crossField((call, add) => namesOneSet(call, DEAD_FILTERS, add)));
/** A parsed call. */
export type SettleDeadInput = z.output<typeof input>;
export type SettleDeadRequest = z.input<typeof input>;

const output = answer({ items: z.array(movedItem), ...bulkAnswerShape });
export type SettleDeadOutput = z.output<typeof output>;

const renderAs =
  (done: string) =>
  (result: SettleDeadOutput): string =>
    bounded([
      result.dryRun
        ? `${result.matched} dead items would be ${done}`
        : `${done} ${result.items.length} of ${result.matched}, failed ${result.failed}`,
      ...result.items.map((one) => `${one.itemId} [${one.role}] ${oneLine(one.title, 80)}`),
    ]);

const shared = { input, output, capability: "operate", toolsets: [], mcp: false } as const;

export const replayDead = defineOperation({
  ...shared,
  name: "replay_dead",
  description: "Put dead items back where they stood, with nothing counted against them.",
  annotations: writes("Replay dead items", { destructive: false }),
  render: renderAs("replayed"),
});

export const discardDead = defineOperation({
  ...shared,
  name: "discard_dead",
  description: "Cancel dead items.",
  annotations: writes("Discard dead items", { destructive: true }),
  render: renderAs("discarded"),
});
