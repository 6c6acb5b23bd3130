/**
 * One connection to Redis that may go and come back at any time.
 *
 * - A command that is not answered in time is lost, and nothing is queued for a server
 *   that is away, so no caller waits longer than its time-out.
 * - A server that is silent while commands are out is given up and reconnected to, since a
 *   frozen host or a cut cable closes no socket. From then on callers do not wait at all.
 * - It reconnects for ever, ever more slowly up to a cap, with jitter so that replicas do
 *   not return in step.
 * - Commands are never resent: a reply that was lost may belong to a write that was not.
 */
import { Redis, type RedisOptions } from "ioredis";

/** In command time-outs: one slow command alone is no reason to reconnect. */
const SILENCE_TIMEOUTS = 4;

const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 2_000;

export interface Address {
  readonly url: string;
  readonly commandTimeoutMs: number;
}

/** What a connection may have beyond the rules above. */
export type ConnectionOptions = Pick<RedisOptions, "enableAutoPipelining" | "scripts">;

/** Opens a connection in the background; an error of it never surfaces unhandled. */
export function openConnection(
  { url, commandTimeoutMs }: Address,
  role: string,
  options: ConnectionOptions = {},
): Redis {
  const silenceMsMax = SILENCE_TIMEOUTS * commandTimeoutMs;
  const redis = new Redis(url, {
    connectionName: `muster-${role}`,
    commandTimeout: commandTimeoutMs,
    connectTimeout: silenceMsMax,
    socketTimeout: silenceMsMax,
    // Saying goodbye to a frozen server must not keep the next attempt waiting.
    disconnectTimeout: RECONNECT_MS_MIN,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // Fails what was in flight as soon as the connection is gone.
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: RECONNECT_MS_MAX,
    retryStrategy: reconnectDelayMs,
    // A primary that became a replica closes nothing by itself.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
    ...options,
  });
  // Without a listener each failed attempt would be printed; losing and finding the
  // store is reported once by whoever watches the connection.
  redis.on("error", () => {});
  return redis;
}

/** Between half and the whole of a delay that doubles up to a cap. */
export function reconnectDelayMs(attempt: number): number {
  const wholeMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** Math.min(attempt - 1, 16));
  return Math.ceil(wholeMs * (0.5 + Math.random() / 2));
}

/** Closes for good and waits until the socket is gone. */
export async function closeConnection(redis: Redis): Promise<void> {
  // Undefined until the first attempt has made a socket, whatever its type says.
  const socket: Redis["stream"] | undefined = redis.stream;
  redis.disconnect();
  if (!socket || socket.destroyed) return;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.destroy();
  });
}
