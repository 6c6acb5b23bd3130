/** Credentials, and who did what with them. */
import { z } from "zod";
import { createToken } from "../../contract/operations/create-token.ts";
import { revokeToken } from "../../contract/operations/revoke-token.ts";
import { lifeDays, mintedToken } from "../../contract/tokens.ts";
import { JSON_BODY, readRoute, type Route, route } from "./route.ts";

const AREA = "Credentials";

const newToken = createToken.input.omit({ actor: true });
const rotation = z.strictObject({ expiresInDays: lifeDays });
const revocation = revokeToken.input.pick({ reason: true });

export const TOKEN_ROUTES: readonly Route[] = [
  readRoute({ path: "/tokens", area: AREA, summary: "List tokens", operation: "list_tokens" }),
  route({
    method: "POST",
    path: "/tokens",
    area: AREA,
    summary: "Make a token; its text is in this answer and nowhere else",
    operation: "create_token",
    body: newToken,
    bodyRule: JSON_BODY,
    success: [{ status: 201, description: "The token with its text", schema: mintedToken }],
    refusals: ["RESOURCE_NOT_FOUND", "ambiguous_id", "insufficient_capability"],
    toInput: ({ body, actor }) => ({ ...body, actor }),
    toResponse: (made) => ({ status: 201, body: made }),
  }),
  route({
    method: "POST",
    path: "/tokens/{tokenId}/rotate",
    area: AREA,
    summary: "Give a token a new secret; the old one ends at once",
    operation: "rotate_token",
    body: rotation,
    bodyRule: JSON_BODY,
    success: [{ status: 200, description: "The token with its new text", schema: mintedToken }],
    refusals: ["not_found", "CONFLICT_ERROR", "insufficient_capability"],
    toInput: ({ params, body, actor }) => ({ tokenId: params["tokenId"] ?? "", ...body, actor }),
  }),
  route({
    method: "POST",
    path: "/tokens/{tokenId}/revoke",
    area: AREA,
    summary: "End a token for good",
    operation: "revoke_token",
    body: revocation,
    bodyRule: JSON_BODY,
    success: [{ status: 200, description: "The token as it is now", schema: revokeToken.output }],
    refusals: ["not_found"],
    toInput: ({ params, body, actor }) => ({ tokenId: params["tokenId"] ?? "", ...body, actor }),
  }),
  readRoute({ path: "/audit", area: AREA, summary: "Who did what, newest first", operation: "query_audit" }),
];
