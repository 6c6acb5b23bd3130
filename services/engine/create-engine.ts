/** Puts the use cases behind one door. */
import { sweepAgeMs } from "../../db/stores/lapsed-store.ts";
import type { AdvanceItemInput } from "../contract/operations/advance-item.ts";
import type { ClaimItemInput } from "../contract/operations/claim-item.ts";
import type { ExplainItemInput } from "../contract/operations/explain-item.ts";
import type { GetBlockedItemsInput } from "../contract/operations/get-blocked-items.ts";
import type { GetNextItemInput } from "../contract/operations/get-next-item.ts";
import type { GetNextStatusInput } from "../contract/operations/get-next-status.ts";
import type { ListAgentsInput } from "../contract/operations/list-agents.ts";
import type { ListClaimsInput } from "../contract/operations/list-claims.ts";
import type { ManageDependenciesInput } from "../contract/operations/manage-dependencies.ts";
import type { ManageItemsInput } from "../contract/operations/manage-items.ts";
import type { ManageNotesInput } from "../contract/operations/manage-notes.ts";
import type { QueryItemsInput } from "../contract/operations/query-items.ts";
import { fault } from "../contract/errors.ts";
import { admitActors } from "./actors/admit-actors.ts";
import { advanceItem, type ClaimNext, createTransitionLane } from "./advance/advance-item.ts";
import { createAgentsSeen } from "./agents-seen.ts";
import { claimEntry, claimItem, type ClaimServices } from "./claims/claim-item.ts";
import { createClaimState } from "./claims/claim-lane.ts";
import { sweepClaims } from "./claims/free-lapsed.ts";
import { createWaiters } from "./claims/waiters.ts";
import { asFault } from "./database-fault.ts";
import type { EngineDeps } from "./deps.ts";
import type { Caller, Engine } from "./engine.ts";
import { identify, mintSession } from "./identity.ts";
import { manageDependencies } from "./dependencies/manage-dependencies.ts";
import { manageItems } from "./items/manage-items.ts";
import { manageNotes } from "./notes/manage-notes.ts";
import { explainItem } from "./queries/explain-item.ts";
import { getBlockedItems } from "./queries/get-blocked-items.ts";
import { getNextItem } from "./queries/get-next-item.ts";
import { getNextStatus } from "./queries/get-next-status.ts";
import { listAgents } from "./queries/list-agents.ts";
import { listClaims } from "./queries/list-claims.ts";
import { queryItems } from "./queries/query-items.ts";
import { readsOf } from "./queries/reads.ts";

type UseCase = (input: unknown, caller: Caller) => Promise<Record<string, unknown>>;

/** The engine does not own its database and its coordination: whoever opened them closes them, after `close()`. */
export function createEngine(deps: EngineDeps): Engine {
  const state = createClaimState(deps);
  const waiters = createWaiters(deps);
  const seen = createAgentsSeen(deps);
  const services: ClaimServices = { deps, state, waiters };
  const transitions = createTransitionLane(deps);

  const claimNext: ClaimNext = async (entry, input, caller, record) => {
    const actor = input.actor ?? input.transitions[0]?.actor;
    if (actor === undefined || input.requestId === undefined)
      throw new Error("the contract lets no claimNext through without");
    const stated = identify(actor, input.workerId ?? input.transitions[0]?.workerId, caller);
    const session = stated.session ?? mintSession();
    const claimed = await claimEntry(services, entry, {
      who: { ...stated, session, author: { ...stated.author, session } },
      caller,
      record,
      capabilities: input.capabilities ?? [],
      waitSeconds: 0,
    });
    return { result: claimed.result, workerId: claimed.session };
  };

  const useCases: Readonly<Record<string, UseCase>> = {
    claim_item: async (input, caller) => {
      const call = input as ClaimItemInput;
      const output = await claimItem(services, call, caller);
      seen.saw(
        identify(call.actor, output.workerId, caller),
        call.actor.kind,
        call.capabilities ?? [],
        caller,
      );
      return output;
    },
    advance_item: (input, caller) =>
      advanceItem(deps, transitions, claimNext, input as AdvanceItemInput, caller),
    ...readsOf(deps),
    manage_items: (input, caller) => manageItems(deps, input as ManageItemsInput, caller),
    manage_dependencies: (input, caller) =>
      manageDependencies(deps, input as ManageDependenciesInput, caller),
    manage_notes: (input, caller) => manageNotes(deps, input as ManageNotesInput, caller),
    query_items: (input, caller) => queryItems(deps, input as QueryItemsInput, caller),
    get_next_item: (input, caller) => getNextItem(deps, input as GetNextItemInput, caller),
    get_next_status: (input, caller) => getNextStatus(deps, input as GetNextStatusInput, caller),
    get_blocked_items: (input, caller) => getBlockedItems(deps, input as GetBlockedItemsInput, caller),
    explain_item: (input, caller) => explainItem(deps, input as ExplainItemInput, caller),
    list_claims: (input, caller) => listClaims(deps, input as ListClaimsInput, caller),
    list_agents: (input, caller) => listAgents(deps, input as ListAgentsInput, caller),
  };

  return {
    async execute(name, input, caller) {
      const useCase = useCases[name];
      if (useCase === undefined) throw fault("OPERATION_FAILED", `there is no operation called ${name}`);
      try {
        return await useCase(await admitActors(deps, name, input), caller);
      } catch (error) {
        const shown = asFault(error);
        if (shown.code === "INTERNAL_ERROR")
          deps.log.error({ err: error, operation: name, requestId: caller.requestId }, "operation failed");
        throw shown;
      }
    },
    sweep: (signal) => sweepClaims(deps, signal),
    sweepAgeMs: () => sweepAgeMs(deps.db),
    drain: () => waiters.drain(),
    async close() {
      waiters.drain();
      state.empties.close();
      await seen.close();
    },
  };
}
