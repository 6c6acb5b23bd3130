/** What a handler and the steps of a slot are given. */
import type { Client } from "./client.ts";
import type { EventFunc } from "./events.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { Log } from "./log.ts";
import type { FinishTrigger, Outcome } from "./outcome.ts";
import type { ClaimGranted, ClaimRequest } from "./shapes.ts";

/** The item that a worker holds, as the claim answered it. */
export type ClaimedItem = ClaimGranted["item"];

/** What a handler gets besides its item. */
export interface HandlerContext {
  /**
   * Aborts when the claim is lost (`reason` is a `ClaimLost`) or the worker stops and its
   * grace is over. Pass it on to everything that can take it.
   */
  readonly signal: AbortSignal;
  readonly item: ClaimedItem;
  /** Pass it with every write that must not happen once the claim is lost. */
  readonly fence: number;
  /** Which try this is; 1 is the first. */
  readonly attempt: number;
  readonly workerId: string;
  /** Speaks in this worker's name. */
  readonly client: Client;
  readonly log: Log;
  /** How long the claim may still be trusted if no renewal gets through. */
  msLeft(): number;
}

/** Works on one item. Returning nothing means complete; throwing fails the attempt with the error as evidence. */
export type Handler = (
  item: ClaimedItem,
  context: HandlerContext,
) => Promise<Outcome | void> | Outcome | void;

/** What a slot needs, the same for all slots of a worker but for the client. */
export interface SlotContext {
  readonly client: Client;
  readonly heartbeats: Heartbeats;
  readonly handler: Handler;
  readonly emit: EventFunc;
  readonly log: Log;
  /** What to claim, here and as the next one. */
  readonly entry: ClaimRequest;
  readonly capabilities: readonly string[];
  readonly waitSeconds: number;
  readonly finishWith: FinishTrigger;
  /** End when nothing is left that this worker could do now or soon. */
  readonly untilEmpty: boolean;
  /** True while another slot of this worker works on something that may free more. */
  readonly othersAreBusy: () => boolean;
  /** Aborts when the worker stops: nothing more is claimed. */
  readonly stopping: AbortSignal;
  /** Aborts when the grace of a stop is over: handlers are told to end. */
  readonly graceOver: AbortSignal;
  /** Aborts when handlers were given up on: their items are handed back without them. */
  readonly abandoned: AbortSignal;
  /** Counts what the worker is busy with. */
  readonly setBusy: (busy: boolean) => void;
}
