/** Writes refusals down, each door in its own form: the same error, readable also by who ignores its headers. */
import { errorBody, ERRORS, errorText, type MusterError } from "../../contract/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendRpcFault } from "../http/reply.ts";
import { sendWebResponse } from "../http/web-response.ts";
import { problem } from "../rest/problem.ts";
import type { Admission } from "./admission.ts";
import type { Challenges } from "./challenge.ts";
import type { GateRefusal } from "./gate.ts";

/** Answers a request that did not get past the gate. Its body was not read. */
export async function sendGateRefusal(exchange: Exchange, { error, headers }: GateRefusal): Promise<void> {
  const { response, id } = exchange;
  if (exchange.path !== "/mcp")
    return sendWebResponse(response, problem(error, id, headers), { "x-request-id": id });
  return sendRpcFault(response, {
    status: ERRORS[error.code].httpStatus,
    message: errorText(error),
    data: { ...errorBody(error) },
    headers: { ...headers, "x-request-id": id },
  });
}

/** The challenge that belongs to an error of an operation; nothing to any but a missing scope. */
export function challengedHeaders(
  error: MusterError,
  exchange: Exchange,
  admission: Admission,
  challenges: Challenges,
): Readonly<Record<string, string>> {
  if (error.code !== "insufficient_scope" || admission.kind === "open") return {};
  return { "www-authenticate": challenges.insufficient(exchange.path, admission, requiredOf(error)) };
}

function requiredOf({ details }: MusterError): string[] {
  const required = details?.["required"];
  return Array.isArray(required) ? required.filter((one) => typeof one === "string") : [];
}
