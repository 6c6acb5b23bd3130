/**
 * The one way from a tool call to the engine, for every transport and protocol era:
 * parse with the contract, execute, render. Whatever goes wrong comes back as an
 * answer that the model can act on; only our own errors show their text, since a
 * driver's message can hold SQL, paths or secrets.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { ensureError, errorBody, errorText, fault, type MusterError } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { parseInput } from "../../contract/parse.ts";
import type { Caller, Engine } from "../../engine/engine.ts";
import type { Log } from "../../runtime/log.ts";

/** Where the answer goes: `structured` beside a short text, or all of it as JSON text. */
export type ResultForm = "structured" | "text";

export interface CallContext {
  readonly engine: Engine;
  readonly log: Log;
  readonly caller: Caller;
  readonly form: ResultForm;
}

/** Runs a tool; never rejects. */
export async function callTool(
  operation: Operation,
  args: unknown,
  context: CallContext,
): Promise<CallToolResult> {
  const { engine, log, caller, form } = context;
  try {
    const input = parseInput(operation, args ?? {});
    const output = await engine.execute(operation.name, input, caller);
    if (form === "text") return { content: [{ type: "text", text: JSON.stringify(output) }] };
    return { content: [{ type: "text", text: operation.render(output) }], structuredContent: output };
  } catch (thrown) {
    return failure(toShownError(thrown, operation.name, caller, log), form);
  }
}

/** The error a caller may see. What is not ours is logged, and its stand-in names the request to look for. */
export function toShownError(
  thrown: unknown,
  operation: string,
  caller: Pick<Caller, "requestId">,
  log: Log,
): MusterError {
  const error = ensureError(thrown);
  if (error.code !== "INTERNAL_ERROR") return error;
  // The engine has logged its own already.
  if (error !== thrown)
    log.error({ err: thrown, operation, requestId: caller.requestId }, "operation failed");
  return fault("INTERNAL_ERROR", error.message, { details: { requestId: caller.requestId }, cause: thrown });
}

/** A refused call is an answer with `isError`, which models read; a protocol error is often hidden from them. */
function failure(error: MusterError, form: ResultForm): CallToolResult {
  const body = { error: errorBody(error) };
  if (form === "text") return { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] };
  return { isError: true, content: [{ type: "text", text: errorText(error) }], structuredContent: body };
}
