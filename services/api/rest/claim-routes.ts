/** Claims and those who hold them: taking, keeping and giving back, and what operators take back. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { answer } from "../../contract/answers.ts";
import { claimResult, isGranted } from "../../contract/claiming.ts";
import * as fields from "../../contract/fields.ts";
import { claimItem, type ClaimItemOutput } from "../../contract/operations/claim-item.ts";
import { drainAgent } from "../../contract/operations/drain-agent.ts";
import { revokeClaims, revokeShape } from "../../contract/operations/revoke-claims.ts";
import type { RequestOf } from "../../contract/registry.ts";
import { replayMark, toFault } from "./element.ts";
import { JSON_BODY, readRoute, type RestRequest, type Route, route } from "./route.ts";

const AREA = "Claims";
const AGENTS = "Agents";

const { actor: _actor, requestId: _requestId, ...revokeBody } = revokeShape;

/** The operation checks what is inside; this only says what may be there. */
const entries = z.array(z.record(z.string(), z.unknown())).min(1);
const claimBody = z.strictObject({
  itemId: fields.itemRef.optional().describe("This item."),
  selector: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The best that it offers; {} is the queue."),
  ttlSeconds: z.int().optional(),
  start: fields.flag.optional().describe("true: also moves it to work."),
  fence: fields.fence.optional().describe("Takes over a claim of your own from another worker."),
  include: z.literal("brief").optional(),
  workerId: fields.workerId.optional(),
  capabilities: z.string().optional().describe("Comma-separated."),
});
const keepBody = z.strictObject({ workerId: fields.workerId.optional(), refreshes: entries });
const giveBackBody = z.strictObject({ workerId: fields.workerId.optional(), releases: entries });

type Asked = Pick<RestRequest, "actor" | "requestId">;

/** Whoever sends no key does not mean to repeat the call. */
const called = ({ actor, requestId }: Asked) => ({ actor, requestId: requestId ?? randomUUID() });

const toClaimed = (output: ClaimItemOutput) => {
  const [claim] = output.claims;
  if (claim === undefined) throw new Error("a claim was not answered");
  if (!isGranted(claim)) {
    const { outcome: errorCode, kind: _kind, error, hint, retryAfterMs, details, ...beside } = claim;
    throw toFault({ error, errorCode, hint, retryAfterMs, details }, beside);
  }
  return {
    status: 200,
    body: { ...claim, workerId: output.workerId },
    headers: replayMark(claim.replayed),
  };
};

const drainBody = z.strictObject({
  reason: fields.reason,
  revokeClaims: fields.flag.optional().describe("true: also ends what it holds."),
});

function drainRoute(verb: "drain" | "undrain", drained: boolean, summary: string): Route {
  return route({
    method: "POST",
    path: `/agents/{agent}/${verb}`,
    area: AGENTS,
    summary,
    operation: "drain_agent",
    body: drained ? drainBody : drainBody.omit({ revokeClaims: true }),
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "How it stands with the agent", schema: drainAgent.output }],
    refusals: [],
    toInput: ({ params, body, actor, requestId }) => ({
      ...body,
      agent: params["agent"] ?? "",
      drained,
      actor,
      requestId,
    }),
    toResponse: (output) => ({ status: 200, body: output, headers: replayMark(output.replayed) }),
  });
}

export const CLAIM_ROUTES: readonly Route[] = [
  readRoute({ path: "/claims", area: AREA, summary: "List claims", operation: "list_claims" }),
  route({
    method: "POST",
    path: "/claims",
    area: AREA,
    summary: "Claim an item by its id, or the best one that a selector offers",
    operation: "claim_item",
    body: claimBody,
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [
      {
        status: 200,
        description: "The claim",
        schema: answer({ ...claimResult.options[0].shape, workerId: z.string() }),
      },
    ],
    refusals: [
      "RESOURCE_NOT_FOUND",
      "already_claimed",
      "queue_empty",
      "none_eligible",
      "terminal_item",
      "item_dead",
      "agent_drained",
      "dependency_blocked",
      "gate_blocked",
      "resource_unavailable",
      "invalid_transition",
    ],
    toInput: (request) => {
      const { workerId, capabilities, ...entry } = request.body;
      const input = { ...called(request), claims: [entry], workerId, capabilities };
      return input;
    },
    toResponse: toClaimed,
  }),
  route({
    method: "POST",
    path: "/claims/refresh",
    area: AREA,
    summary: "Keep claims alive, up to 100 at once; each is answered by itself",
    operation: "claim_item",
    body: keepBody,
    bodyRule: JSON_BODY,
    success: [{ status: 200, description: "What became of each", schema: claimItem.output }],
    refusals: [],
    toInput: (request) => ({ ...called(request), ...request.body }) as RequestOf<"claim_item">,
    toResponse: ({ refreshes, workerId }) => ({ status: 200, body: { refreshes, workerId } }),
  }),
  route({
    method: "POST",
    path: "/claims/release",
    area: AREA,
    summary: "Give claims back, up to 100 at once; each is answered by itself",
    operation: "claim_item",
    body: giveBackBody,
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "What became of each", schema: claimItem.output }],
    refusals: [],
    toInput: (request) => ({ ...called(request), ...request.body }) as RequestOf<"claim_item">,
    toResponse: ({ releases, workerId }) => ({ status: 200, body: { releases, workerId } }),
  }),
  route({
    method: "POST",
    path: "/claims/revoke",
    area: AREA,
    summary: "End claims whose holders should not have them any more",
    operation: "revoke_claims",
    body: z.strictObject(revokeBody),
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 200, description: "What was revoked", schema: revokeClaims.output }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ body, actor, requestId }) => ({ ...body, actor, requestId }),
    toResponse: (output) => ({ status: 200, body: output, headers: replayMark(output.replayed) }),
  }),
  readRoute({ path: "/agents", area: AGENTS, summary: "List agents", operation: "list_agents" }),
  drainRoute("drain", true, "Let an agent finish what it holds, and give it nothing new"),
  drainRoute("undrain", false, "Let a drained agent take items again"),
];
