/** Puts the use cases behind one door. */
import { sweepAgeMs } from "../../db/stores/lapsed-store.ts";
import type { GetContextInput } from "../contract/operations/get-context.ts";
import type { AdvanceItemInput } from "../contract/operations/advance-item.ts";
import type { ClaimItemInput } from "../contract/operations/claim-item.ts";
import type { CompleteTreeInput } from "../contract/operations/complete-tree.ts";
import { fault } from "../contract/errors.ts";
import { operationByName } from "../contract/registry.ts";
import { requireCapabilities } from "./access.ts";
import { pinActors } from "./actors/pin-actors.ts";
import { admitActors } from "./actors/admit-actors.ts";
import { advanceItem, createTransitionLane } from "./advance/advance-item.ts";
import { type AuditTrail, createAuditTrail } from "./audit/audit-trail.ts";
import { audited, noteRefusal } from "./audit/audited.ts";
import { createAgentsSeen } from "./agents-seen.ts";
import { claimItem, type ClaimServices } from "./claims/claim-item.ts";
import { createClaimState } from "./claims/claim-lane.ts";
import { createClaimNext } from "./claims/claim-next.ts";
import { sweepClaims } from "./claims/free-lapsed.ts";
import { createWaiters } from "./claims/waiters.ts";
import { getContext } from "./context/get-context.ts";
import { asFault } from "./database-fault.ts";
import { createEventAnnouncer } from "./events/event-announcer.ts";
import { createEventFeed } from "./events/event-feed.ts";
import type { EngineDeps } from "./deps.ts";
import type { Caller, Engine } from "./engine.ts";
import { identify } from "./identity.ts";
import { readsOf } from "./queries/reads.ts";
import { behindVeil } from "./scope/veil.ts";
import { completeTree } from "./trees/complete-tree.ts";
import { createRetention } from "./retention/create-retention.ts";
import { fireDue } from "./wake-ups/fire-due.ts";
import { writesOf } from "./writing/writes.ts";

type UseCase = (input: unknown, caller: Caller) => Promise<Record<string, unknown>>;

/** The engine does not own its database and its coordination: whoever opened them closes them, after `close()`. */
export function createEngine(deps: EngineDeps): Engine {
  const state = createClaimState(deps);
  const waiters = createWaiters(deps);
  const seen = createAgentsSeen(deps);
  const trail = createAuditTrail(deps);
  const services: ClaimServices = { deps, state, waiters };
  const transitions = createTransitionLane(deps);
  const announcer = createEventAnnouncer(deps.coordination.wakeUps);
  const events = createEventFeed(deps);

  const claimNext = createClaimNext(services);

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
    get_context: (input, caller) => getContext(deps, waiters, input as GetContextInput, caller),
    complete_tree: (input, caller) => completeTree(deps, transitions, input as CompleteTreeInput, caller),
    ...readsOf(deps),
    ...writesOf(deps),
  };

  return {
    execute: createExecute({ deps, trail, announcer, useCases }),
    noteRefusal: (name, caller, error) => noteRefusal(trail, name, caller, error),
    retain: createRetention(deps),
    events,
    ...pacedWorkOf(deps, announcer),
    sweepAgeMs: () => sweepAgeMs(deps.db),
    drain() {
      waiters.drain();
      events.drain();
    },
    async close() {
      waiters.drain();
      await events.close();
      announcer.close();
      state.empties.close();
      await seen.close();
      await trail.close();
    },
  };
}

/** What loops of schedulers call; whoever follows events hears of what came of it. */
function pacedWorkOf(
  deps: EngineDeps,
  announcer: Pick<ReturnType<typeof createEventAnnouncer>, "announce">,
): Pick<Engine, "sweep" | "fireDue"> {
  return {
    async sweep(signal) {
      const report = await sweepClaims(deps, signal);
      if (report.freed > 0) announcer.announce();
      return report;
    },
    async fireDue(signal) {
      const report = await fireDue(deps, signal);
      if (report.reminders + report.schedules > 0) announcer.announce();
      return report;
    },
  };
}

interface Calls {
  readonly deps: EngineDeps;
  readonly trail: AuditTrail;
  readonly announcer: ReturnType<typeof createEventAnnouncer>;
  readonly useCases: Readonly<Record<string, UseCase>>;
}

/** What every call goes through: its rights, its name, its scope, and its row in the audit. */
function createExecute({ deps, trail, announcer, useCases }: Calls): Engine["execute"] {
  return async (name, input, caller) => {
    const useCase = useCases[name];
    const operation = operationByName.get(name);
    if (useCase === undefined || operation === undefined)
      throw fault("OPERATION_FAILED", `there is no operation called ${name}`);
    return await audited(trail, { operation, input, caller }, async (recorded) => {
      try {
        requireCapabilities(caller.access, operation, input);
        const named = pinActors(caller.access, operation, input);
        const admitted = await admitActors(deps, name, named);
        const output = await behindVeil(deps.db, caller, admitted, (veiled) => useCase(veiled, recorded));
        if (!operation.annotations.readOnlyHint) announcer.announce();
        return output;
      } catch (error) {
        const shown = asFault(error);
        if (shown.code === "INTERNAL_ERROR")
          deps.log.error({ err: error, operation: name, requestId: caller.requestId }, "operation failed");
        throw shown;
      }
    });
  };
}
