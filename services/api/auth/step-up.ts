/**
 * A tool that needs more than an access token was given: HTTP 403 with the scopes to ask for,
 * before anything runs, so that the client can come back with more. A token of ours cannot be
 * widened; its call gets the refusal as the answer of the tool, which a model reads.
 */
import { CAPABILITIES, capabilitiesNeeded, type Operation } from "../../contract/operation.ts";
import { errorBody, errorText, fault, isMusterError, type MusterError } from "../../contract/errors.ts";
import { parseInput } from "../../contract/parse.ts";
import { missingCapabilities, scopeOf } from "../../engine/access.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendJson } from "../http/reply.ts";
import type { Admission } from "./admission.ts";
import type { Challenges } from "./challenge.ts";

export interface MissingScopes {
  readonly operation: string;
  readonly required: readonly string[];
  readonly id: unknown;
}

interface ToolCall {
  readonly method?: unknown;
  readonly id?: unknown;
  readonly params?: { readonly name?: unknown; readonly arguments?: unknown };
}

/** What the access token lacks for this call; null if nothing, or if there is no use in asking for more. */
export function missingScopes(
  admission: Admission,
  body: unknown,
  find: (name: string) => Operation | undefined,
): MissingScopes | null {
  if (admission.kind !== "jwt" || missingCapabilities(admission.access, CAPABILITIES).length === 0)
    return null;
  const { method, id, params } = (body ?? {}) as ToolCall;
  if (method !== "tools/call" || typeof params?.name !== "string") return null;
  const operation = find(params.name);
  if (operation === undefined) return null;
  const required = missingCapabilities(admission.access, neededBy(operation, params.arguments)).map(scopeOf);
  return required.length === 0 ? null : { operation: operation.name, required, id: id ?? null };
}

/** A call that does not parse is refused for that by the tool itself, which says what is wrong. */
function neededBy(operation: Operation, args: unknown) {
  try {
    return capabilitiesNeeded(operation, parseInput(operation, args ?? {}));
  } catch (error) {
    if (isMusterError(error)) return [];
    throw error;
  }
}

export function scopeFault({ operation, required }: MissingScopes): MusterError {
  return fault("insufficient_scope", `${operation} needs the scope ${required.join(" and ")}`, {
    details: { required },
  });
}

export function sendScopeChallenge(
  exchange: Exchange,
  admission: Admission,
  { required, id }: MissingScopes,
  error: MusterError,
  challenges: Challenges,
): void {
  const body = {
    jsonrpc: "2.0",
    id,
    error: { code: FORBIDDEN, message: errorText(error), data: errorBody(error) },
  };
  sendJson(exchange.response, 403, JSON.stringify(body), {
    "www-authenticate": challenges.insufficient(exchange.path, admission, required),
    "x-request-id": exchange.id,
  });
}

/** The same that transport faults have. */
const FORBIDDEN = -32000;
