/**
 * `@muster/worker-sdk`: claim items from a Muster server, keep the claims alive while
 * working, hand the results in.
 *
 * {@link createWorker} does all of that around one function of yours.
 * {@link createClient} is the single calls, for everything else.
 * {@link runCommandWorker} runs any program per item.
 */
export {
  createClient,
  type AdvanceAnswer,
  type Agent,
  type CallOptions,
  type ClaimAnswer,
  type ClaimOptions,
  type Client,
  type ClientOptions,
} from "./client.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker.ts";
export type { ClaimedItem, Handler, HandlerContext } from "./slot-context.ts";
export { complete, fail, handBack, type FinishTrigger, type Outcome } from "./outcome.ts";
export {
  ClaimLost,
  ConnectionError,
  MusterClientError,
  WorkerStopped,
  type LossCause,
  type RefusalFields,
} from "./errors.ts";
export { runCommandWorker, type CommandWorkerOptions, type CommandWorkerReport } from "./command-worker.ts";
export type { EventFunc, WorkerEvent } from "./events.ts";
export { createStderrLog, type Log } from "./log.ts";
export {
  verifyWebhook,
  type VerifyWebhookInput,
  type WebhookRefusal,
  type WebhookVerdict,
} from "./webhooks.ts";
export { VERSION } from "./version.ts";
export type {
  AdvanceItemOutput,
  AdvanceItemRequest,
  ClaimGranted,
  ClaimRefused,
  ClaimRequest,
  ClaimResult,
  ExcludedCounts,
  RefreshRequest,
  RefreshResult,
  ReleaseRequest,
  ReleaseResult,
  Selector,
  ToolInput,
  ToolOutput,
  TransitionApplied,
  TransitionRefused,
  TransitionRequest,
} from "./shapes.ts";
