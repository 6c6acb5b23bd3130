/**
 * The client: typed calls over whichever of the given servers answers. It holds no
 * state of the fleet; what makes its calls safe to repeat is the `requestId` that each
 * carries, and what makes it one worker is its `workerId`.
 */
import { randomUUID } from "node:crypto";
import type { ActorKind } from "../contract/vocabulary.ts";
import { BATCH_SIZE_MAX } from "../contract/limits.ts";
import { createCaller, type Caller, type CallLimits } from "./caller.ts";
import { createEndpoints, parseUrls } from "./endpoints.ts";
import type {
  AdvanceItemOutput,
  AdvanceItemRequest,
  ClaimItemOutput,
  ClaimRequest,
  ClaimResult,
  RefreshRequest,
  RefreshResult,
  ReleaseRequest,
  ReleaseResult,
  ToolInput,
  ToolOutput,
} from "./shapes.ts";
import { createFetchTransport, createHttpTransport } from "./transport.ts";
import { VERSION } from "./version.ts";

/** Who works. Many processes may share an id; their `workerId` tells them apart. */
export interface Agent {
  readonly id: string;
  readonly kind: ActorKind;
  /** The agent that started this one. */
  readonly parent?: string | undefined;
}

export interface ClientOptions {
  /** One server, for example `http://127.0.0.1:3001`, or several separated by commas. */
  readonly url?: string | undefined;
  /** Servers to try in turn. One is used until it fails. */
  readonly urls?: readonly string[] | undefined;
  readonly token?: string | undefined;
  readonly agent: Agent;
  /** The session this client acts in. Pass the one of an earlier process to go on with its claim; new by default. */
  readonly workerId?: string | undefined;
  /** Replaces the HTTP client, for proxies and tests. Its connections are yours to close. */
  readonly fetch?: typeof fetch | undefined;
  /** How long one try may take, waiting for an item not counted. Default 10 seconds. */
  readonly timeoutMs?: number | undefined;
  /** How long a call is tried again before it fails. Default 30 seconds. */
  readonly retryForMs?: number | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retryForMs?: number | undefined;
}

export interface ClaimOptions extends CallOptions, ClaimRequest {
  /** How long the server may wait for an item to become free, 0 to 50 seconds. */
  readonly waitSeconds?: number | undefined;
  /** What this worker can do; items that need more are not offered. */
  readonly capabilities?: readonly string[] | undefined;
  /** Repeat an earlier call: the same id gets the same answer. */
  readonly requestId?: string | undefined;
}

export interface ClaimAnswer {
  /** `outcome` is `success`, or why nothing was claimed. */
  readonly claim: ClaimResult;
  readonly workerId: string;
  readonly replayed: boolean;
  /** Just before the first try, on the monotonic clock of this process: what to count the ttl from. */
  readonly firstTryAtMs: number;
}

export interface AdvanceAnswer extends AdvanceItemOutput {
  readonly firstTryAtMs: number;
}

/** @see {@link createClient} */
export interface Client {
  readonly agent: Agent;
  readonly workerId: string;
  /** Claims one item. That there is none is an answer, not an error. */
  claim(options: ClaimOptions): Promise<ClaimAnswer>;
  /** Renews claims, 100 in a call. Each has its own outcome; `claim_lost` means stop working on it. */
  refresh(
    refreshes: readonly RefreshRequest[],
    options?: CallOptions,
  ): Promise<{ readonly results: readonly RefreshResult[]; readonly firstTryAtMs: number }>;
  /** Gives claims back. `requeue: true` also puts work back into the queue. */
  release(releases: readonly ReleaseRequest[], options?: CallOptions): Promise<readonly ReleaseResult[]>;
  /** Moves items between roles, and with `claimNext` takes the next one in the same call. */
  advance(request: AdvanceItemRequest, options?: CallOptions): Promise<AdvanceAnswer>;
  /** Any other tool. Fills in `actor` and a `requestId` where the tool changes something. */
  call<N extends string>(tool: N, input: ToolInput<N>, options?: CallOptions): Promise<ToolOutput<N>>;
  /** The same connections in another session: what each slot of a worker uses. */
  forWorker(workerId: string): Client;
  /** Closes the connections. Calls in flight fail. */
  close(): void;
}

const TIMEOUT_MS = 10_000;
const RETRY_FOR_MS = 30_000;
/** Tools whose name says that they change nothing, and that take no idempotency key. */
const READ_ONLY_TOOL = /^(get|query|explain|list)_/;

/**
 * Connects to one Muster server or to a list of them. Nothing is sent until the first call.
 * @example
 * ```ts
 * const client = createClient({ url: "http://127.0.0.1:3001", agent: { id: "builder", kind: "subagent" } });
 * const { claim } = await client.claim({ selector: { tags: "build" }, start: true, ttlSeconds: 60 });
 * if (claim.outcome === "success") {
 *   console.log(`Working on ${claim.item.title}`);
 *   await client.advance({ itemId: claim.itemId, trigger: "complete", fence: claim.fence });
 * }
 * client.close();
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const urls = parseUrls(options.urls ?? options.url ?? "");
  const transport = options.fetch === undefined ? createHttpTransport() : createFetchTransport(options.fetch);
  const info = { name: "muster-worker-sdk", version: VERSION };
  const closing = new AbortController();
  const caller = createCaller({
    endpoints: createEndpoints(urls),
    transport,
    token: options.token,
    info,
    closed: closing.signal,
  });
  const close = (): void => {
    closing.abort();
    transport.close();
  };
  const limits = {
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retryForMs: options.retryForMs ?? RETRY_FOR_MS,
  };
  return clientFor({ caller, limits, agent: options.agent, close }, options.workerId ?? randomUUID());
}

interface Connection {
  readonly caller: Caller;
  readonly limits: { readonly timeoutMs: number; readonly retryForMs: number };
  readonly agent: Agent;
  readonly close: () => void;
}

function clientFor(connection: Connection, workerId: string): Client {
  const { caller, agent } = connection;
  const limitsOf = (options: CallOptions): CallLimits => ({
    timeoutMs: options.timeoutMs ?? connection.limits.timeoutMs,
    retryForMs: options.retryForMs ?? connection.limits.retryForMs,
    signal: options.signal,
  });
  const identity = () => ({ actor: agent, requestId: randomUUID(), workerId });

  return {
    agent,
    workerId,
    async claim({ waitSeconds = 0, capabilities = [], requestId, signal, timeoutMs, retryForMs, ...entry }) {
      const input = {
        ...identity(),
        ...(requestId === undefined ? {} : { requestId }),
        claims: [entry],
        ...(waitSeconds > 0 ? { waitSeconds } : {}),
        ...(capabilities.length > 0 ? { capabilities: capabilities.join(",") } : {}),
      };
      const limits = limitsOf({ signal, timeoutMs, retryForMs });
      const waiting = { ...limits, timeoutMs: limits.timeoutMs + waitSeconds * 1000 };
      const { data, firstTryAtMs } = await caller.send("claim_item", input, waiting);
      const answer = data as unknown as ClaimItemOutput;
      const claim = answer.claims[0];
      if (claim === undefined) throw new TypeError("The answer to a claim holds no claim");
      return { claim, workerId: answer.workerId, replayed: answer.replayed === true, firstTryAtMs };
    },
    async refresh(refreshes, options = {}) {
      const batches = batchesOf(refreshes);
      const calls = batches.map((batch) =>
        caller.send("claim_item", { ...identity(), refreshes: batch }, limitsOf(options)),
      );
      const answers = await Promise.all(calls);
      const results = answers.flatMap(({ data }) => (data as unknown as ClaimItemOutput).refreshes);
      return { results, firstTryAtMs: Math.min(...answers.map(({ firstTryAtMs }) => firstTryAtMs)) };
    },
    async release(releases, options = {}) {
      const calls = batchesOf(releases).map((batch) =>
        caller.send("claim_item", { ...identity(), releases: batch }, limitsOf(options)),
      );
      const answers = await Promise.all(calls);
      return answers.flatMap(({ data }) => (data as unknown as ClaimItemOutput).releases);
    },
    async advance(request, options = {}) {
      const { data, firstTryAtMs } = await caller.send(
        "advance_item",
        { ...identity(), ...request },
        limitsOf(options),
      );
      return { ...(data as unknown as AdvanceItemOutput), firstTryAtMs };
    },
    async call<N extends string>(tool: N, input: ToolInput<N>, options: CallOptions = {}) {
      const filled = READ_ONLY_TOOL.test(tool) ? input : { actor: agent, requestId: randomUUID(), ...input };
      const { data } = await caller.send(tool, filled, limitsOf(options));
      return data as ToolOutput<N>;
    },
    forWorker: (other) => clientFor(connection, other),
    close: connection.close,
  };
}

function batchesOf<T>(all: readonly T[]): (readonly T[])[] {
  const count = Math.ceil(all.length / BATCH_SIZE_MAX);
  return Array.from({ length: count }, (_, index) =>
    all.slice(index * BATCH_SIZE_MAX, (index + 1) * BATCH_SIZE_MAX),
  );
}
