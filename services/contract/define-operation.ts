/** Keeps the schemas of an operation in its type, so that callers get typed inputs and answers. */
import type { z } from "zod";
import type { Operation } from "./operation.ts";

export function defineOperation<I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
): Operation<I, O> {
  return Object.freeze(operation);
}
