/** The claims of all callers of this process on their way to the database together, and what they share. */
import type { EngineDeps } from "../deps.ts";
import { holderKey } from "../../../db/stores/holder-store.ts";
import { type Coalescer, createCoalescer } from "../writing/coalescer.ts";
import type { ClaimCall, ClaimOutcome } from "./claim-call.ts";
import { createEmptyAnswers, type EmptyAnswers } from "./empty-answers.ts";
import { flushClaims } from "./flush-claims.ts";
import { createRenewalLane, type RenewalLane } from "./refresh-claims.ts";
import { createTenureMemory, type TenureMemory } from "./tenure-memory.ts";

export type ClaimLane = Coalescer<ClaimCall, ClaimOutcome>;

export interface ClaimState {
  readonly lane: ClaimLane;
  readonly renewals: RenewalLane;
  readonly memory: TenureMemory;
  readonly empties: EmptyAnswers;
}

export function createClaimState(deps: EngineDeps): ClaimState {
  const lane = createCoalescer<ClaimCall, ClaimOutcome>({
    maxBatch: deps.settings.maxBatch,
    lanes: 2,
    exclusive: (call) => [
      `holder ${holderKey(call, deps.settings.identity)}`,
      ...(call.target.kind === "item" ? [`item ${call.target.itemId}`] : []),
      ...(call.record === null
        ? []
        : [`key ${call.record.principal} ${call.record.requestId} ${call.record.element}`]),
    ],
    runBatch: (calls) => flushClaims(deps, calls),
    runOne: async (call) => {
      const [outcome] = await flushClaims(deps, [call]);
      if (!outcome) throw new Error("a flush of one answered nothing");
      return outcome;
    },
    onBatchError: (error, size) => deps.log.info({ err: error, size }, "claim batch retried one by one"),
  });
  return {
    lane,
    renewals: createRenewalLane(deps),
    memory: createTenureMemory(),
    empties: createEmptyAnswers(),
  };
}
