/** Counts and times what an engine is asked, in front of it. */
import { ERRORS, ensureError } from "../../contract/errors.ts";
import { operationByName } from "../../contract/registry.ts";
import type { Metrics } from "./metrics.ts";

interface Executes {
  execute(name: string, input: unknown, ...rest: never[]): Promise<Record<string, unknown>>;
}

const FENCED = new Set(["claim_lost", "not_claim_holder", "tenure_over"]);

/** The same engine, watched. */
export function watchOperations<E extends Executes>(engine: E, metrics: Metrics): E {
  const execute: Executes["execute"] = async (name, input, ...rest) => {
    const operation = operationByName.has(name) ? name : "unknown";
    const startedAt = performance.now();
    const seconds = (): number => (performance.now() - startedAt) / 1_000;
    try {
      const output = await engine.execute(name, input, ...rest);
      metrics.operation(operation, "ok", seconds());
      if (name === "claim_item") countClaims(output, metrics);
      if (name === "advance_item") countMoves(output, metrics);
      return output;
    } catch (error) {
      const { code } = ensureError(error);
      metrics.operation(operation, ERRORS[code].kind, seconds());
      countRefusal(code, metrics);
      throw error;
    }
  };
  return { ...engine, execute };
}

interface Outcomes {
  readonly claims?: readonly { readonly outcome: string }[];
  readonly refreshes?: readonly { readonly outcome: string }[];
  readonly results?: readonly { readonly errorCode?: string }[];
}

function countClaims(output: Outcomes, metrics: Metrics): void {
  for (const { outcome } of output.claims ?? []) metrics.claim(outcome);
  for (const { outcome } of output.refreshes ?? []) {
    metrics.refresh(outcome);
    countRefusal(outcome, metrics);
  }
}

function countMoves({ results }: Outcomes, metrics: Metrics): void {
  for (const { errorCode } of results ?? []) if (errorCode !== undefined) countRefusal(errorCode, metrics);
}

function countRefusal(code: string, metrics: Metrics): void {
  if (FENCED.has(code)) metrics.fenceRefused(code);
  if (code === "resource_unavailable") metrics.leaseContended();
}
