/** How an item moves: the move itself, what stands before it, and what moved before. */
import { z } from "zod";
import { fault, isMusterError } from "../../contract/errors.ts";
import type { AdvanceItemOutput, TransitionApplied } from "../../contract/operations/advance-item.ts";
import { explainItem } from "../../contract/operations/explain-item.ts";
import { getNextStatus } from "../../contract/operations/get-next-status.ts";
import { TRANSITIONS_LIMIT_MAX } from "../../contract/limits.ts";
import { advancedDto, advanceDto } from "../../contract/rest/item-dtos.ts";
import { transitionDto } from "../../contract/rest/note-dtos.ts";
import { pageOf, pageShape, toPage, toWindow } from "../../contract/rest/pages.ts";
import { schemaAnswer } from "../../contract/schema-answer.ts";
import type { RequestOf } from "../../contract/registry.ts";
import { isGranted } from "../../engine/access.ts";
import { replayMark, toFault } from "./element.ts";
import { attributed } from "./item-reads.ts";
import { JSON_BODY, type RestRequest, type Route, route, type Run } from "./route.ts";

const AREA = "Moves";
const transitions = pageOf(transitionDto);

/** What a refused move says beside its message. */
const SAID_BESIDE = [
  "blockers",
  "missingNotes",
  "violations",
  "contendedItemId",
  "contendedResources",
  "position",
  "previousRole",
  "targetRole",
] as const;

function toAdvanced(done: TransitionApplied): Record<string, unknown> {
  const {
    applied: _applied,
    actor: _actor,
    verification: _verification,
    replayed: _replayed,
    ...rest
  } = done;
  return {
    ...rest,
    cascadeEvents: (done.cascadeEvents ?? []).map((event) => ({ gateBlocked: false, ...event })),
    unblockedItems: done.unblockedItems ?? [],
  };
}

type Advance = RestRequest<unknown, z.output<typeof advanceDto>>;
type Result = AdvanceItemOutput["results"][number];

function toMove({ params, body, actor, requestId }: Advance): RequestOf<"advance_item"> {
  const { workerId, overrideResourceLeases: _override, ...transition } = body;
  const transitions = [{ itemId: params["id"], ...transition }];
  return { transitions, actor, workerId, requestId } as RequestOf<"advance_item">;
}

function onlyResult({ results: [result] }: AdvanceItemOutput): Result {
  if (result === undefined) throw new Error("a batch of one answered nothing");
  return result;
}

/** Taking resources from others is for administrators, who say why. */
function requireOverride({ body, access }: Advance): void {
  if (body.overrideResourceLeases !== true) return;
  if (!isGranted(access, "admin"))
    throw fault("insufficient_capability", "overrideResourceLeases is for administrators");
  if (!body.reason?.trim())
    throw fault(
      "VALIDATION_ERROR",
      "reason: is needed with overrideResourceLeases: it is kept with the history",
    );
}

/** With the override, what is in the way is taken from whoever has it, and the move is tried once more. */
async function pastResources(result: Result, request: Advance, run: Run): Promise<Result> {
  const { overrideResourceLeases = false, reason = "" } = request.body;
  if (!overrideResourceLeases || result.applied || result.errorCode !== "resource_unavailable") return result;
  for (const key of result.contendedResources ?? []) {
    await run("release_leases", { key, reason, actor: request.actor }).catch((error: unknown) => {
      // Given back meanwhile: that is as good.
      if (!isMusterError(error) || error.code !== "RESOURCE_NOT_FOUND") throw error;
    });
  }
  return onlyResult(await run("advance_item", toMove(request)));
}

export const MOVE_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/items/{id}/advance",
    area: AREA,
    summary: "Move an item by a trigger",
    operation: "advance_item",
    body: advanceDto,
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "What moved", schema: advancedDto }],
    refusals: [
      "RESOURCE_NOT_FOUND",
      "gate_blocked",
      "dependency_blocked",
      "invalid_transition",
      "not_claim_holder",
      "claim_lost",
      "item_dead",
      "resource_unavailable",
      "insufficient_capability",
    ],
    toInput: (request) => {
      requireOverride(request);
      return toMove(request);
    },
    toResponse: async (output, request, run) => {
      const result = await pastResources(onlyResult(output), request, run);
      if (!result.applied) {
        const beside = SAID_BESIDE.flatMap((name) =>
          result[name] === undefined ? [] : [[name, result[name]]],
        );
        throw toFault(result, Object.fromEntries(beside) as Record<string, unknown>);
      }
      return { status: 200, body: toAdvanced(result), headers: replayMark(result.replayed) };
    },
  }),
  route({
    method: "GET",
    path: "/items/{id}/gate",
    area: AREA,
    summary: "What a start would do to an item now, and what stands in the way",
    operation: "get_next_status",
    success: [{ status: 200, description: "The preview", schema: getNextStatus.output }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params }) => ({ itemId: params["id"] ?? "" }),
  }),
  route({
    method: "GET",
    path: "/items/{id}/explain",
    area: AREA,
    summary: "Why claims are not offered an item, and what would change that",
    operation: "explain_item",
    query: z.strictObject({
      agent: z.string().optional().describe("As this agent would be told."),
      workerId: z.string().optional(),
      capabilities: z.string().optional().describe("Comma-separated."),
    }),
    success: [{ status: 200, description: "Every reason", schema: explainItem.output }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params, query }) => ({ itemId: params["id"] ?? "", ...query }),
  }),
  route({
    method: "GET",
    path: "/items/{id}/schema",
    area: AREA,
    summary: "The notes, traits and rules that an item's schema has for it",
    operation: "query_items",
    success: [{ status: 200, description: "The schema", schema: schemaAnswer }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params }) => ({ operation: "schema", itemId: params["id"] }),
  }),
  route({
    method: "GET",
    path: "/items/{id}/transitions",
    area: AREA,
    summary: "The moves of an item, the latest first",
    operation: "list_transitions",
    query: z.strictObject(pageShape(TRANSITIONS_LIMIT_MAX)),
    success: [{ status: 200, description: "A page of moves", schema: transitions }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params, query }) => ({ itemId: params["id"], ...toWindow(query) }),
    toResponse: (output, { query, access }) => {
      const moves = output.transitions.map(({ actor, verification, ...move }) => ({
        ...move,
        ...attributed({ actor, verification }, access),
      }));
      return { status: 200, body: toPage(moves, query, output) };
    },
  }),
  route({
    method: "GET",
    path: "/transitions",
    area: AREA,
    summary: "The moves of all items, the latest first",
    operation: "list_transitions",
    query: z.strictObject({
      since: z.string().optional().describe("ISO 8601; at or after."),
      ...pageShape(TRANSITIONS_LIMIT_MAX),
    }),
    success: [{ status: 200, description: "A page of moves", schema: transitions }],
    refusals: [],
    toInput: ({ query }) => ({ since: query.since, ...toWindow(query) }),
    toResponse: (output, { query, access }) => {
      const moves = output.transitions.map(({ actor, verification, ...move }) => ({
        ...move,
        ...attributed({ actor, verification }, access),
      }));
      return { status: 200, body: toPage(moves, query, output) };
    },
  }),
];
