/** What operators mend: attempts to look at, dead items to settle, deletes to undo. */
import { z } from "zod";
import * as fields from "../../contract/fields.ts";
import { deadFilterShape } from "../../contract/operations/list-dead.ts";
import { listAttempts } from "../../contract/operations/list-attempts.ts";
import { bulkShape } from "../../contract/bulk.ts";
import { replayDead } from "../../contract/operations/settle-dead.ts";
import { BATCH_SIZE_MAX } from "../../contract/limits.ts";
import type { RestoreItemsOutput } from "../../contract/operations/manage-items.ts";
import { restored } from "../../contract/operations/manage-items.ts";
import { replayMark } from "./element.ts";
import { JSON_BODY, readRoute, type Route, route } from "./route.ts";

const DEAD = "Dead items";
const { actor: _actor, requestId: _requestId, ...bulk } = bulkShape;
const settleBody = z.strictObject({
  ...bulk,
  ...deadFilterShape,
  tags: z.string().min(1).optional().describe("Comma-separated; any matches."),
});

function settleRoute(operation: "replay_dead" | "discard_dead", verb: string, summary: string): Route {
  return route({
    method: "POST",
    path: `/dead/${verb}`,
    area: DEAD,
    summary,
    operation,
    body: settleBody,
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "What was done", schema: replayDead.output }],
    refusals: ["RESOURCE_NOT_FOUND", "insufficient_capability"],
    toInput: ({ body, actor, requestId }) => ({ ...body, actor, requestId }),
    toResponse: (output) => ({ status: 200, body: output, headers: replayMark(output.replayed) }),
  });
}

export const MENDING_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/items/{id}/attempts",
    area: "Claims",
    summary: "List who held an item from when to when, and how that ended",
    operation: "list_attempts",
    query: z.strictObject({ limit: z.int().optional(), offset: z.int().optional() }),
    success: [{ status: 200, description: "A page of attempts", schema: listAttempts.output }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params, query }) => ({ itemId: params["id"] ?? "", ...query }),
  }),
  readRoute({
    path: "/dead",
    area: DEAD,
    summary: "List dead items",
    operation: "list_dead",
    refusals: ["RESOURCE_NOT_FOUND"],
  }),
  settleRoute("replay_dead", "replay", "Put dead items back where they stood"),
  settleRoute("discard_dead", "discard", "Cancel dead items"),
  readRoute({
    path: "/trash",
    area: "Trash",
    summary: "List what can be brought back",
    operation: "list_trash",
  }),
  route({
    method: "POST",
    path: "/trash/restore",
    area: "Trash",
    summary: "Bring back what was deleted; each is answered by itself",
    operation: "manage_items",
    body: z.strictObject({
      trashIds: z.array(fields.fullId).max(BATCH_SIZE_MAX).optional().describe("As the list names them."),
      itemIds: z.array(fields.fullId).max(BATCH_SIZE_MAX).optional().describe("The latest delete of each."),
    }),
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "What came back", schema: restored }],
    refusals: [],
    toInput: ({ body, actor, requestId }) => ({ operation: "restore", ...body, actor, requestId }),
    toResponse: (output) => {
      const done = output as RestoreItemsOutput;
      return { status: 200, body: done, headers: replayMark(done.replayed) };
    },
  }),
];
