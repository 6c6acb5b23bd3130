/** Errors of REST: RFC 9457 problems that carry the same message and hint as everywhere else. */
import { errorBody, type MusterError } from "../../contract/errors.ts";
import { restNameOf } from "./rest-codes.ts";

const PROBLEM_TYPE = "application/problem+json";

/** The problem of one of our own errors. */
export function problem(
  error: MusterError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = errorBody(error);
  const { error: name, status } = restNameOf(body.code);
  return problemResponse(
    status,
    { title: name, detail: error.message, error: name, ...body, requestId },
    headers,
  );
}

/** The problem of a request that reached no operation: wrong path, wrong method, not ready. */
export function plainProblem(
  status: number,
  error: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): Response {
  return problemResponse(status, { title: error, detail: message, error, message, ...more }, headers);
}

function problemResponse(
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const retryAfterMs = body["retryAfterMs"];
  return new Response(JSON.stringify({ type: "about:blank", status, ...body }), {
    status,
    headers: {
      "content-type": PROBLEM_TYPE,
      "cache-control": "no-store",
      ...(typeof retryAfterMs === "number" && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
      ...headers,
    },
  });
}
