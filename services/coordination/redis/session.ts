/**
 * What the command connection knows of the server it talks to. A session lasts as long as
 * one connection, and names the server process (its run id): the claim clock needs that to
 * notice a memory that was lost by a restart or a failover. While there is no session,
 * Redis counts as away.
 */
import type { Redis } from "ioredis";
import type { CoordinationLog } from "../log.ts";

interface Session {
  /** Null when the server does not say; then the clock cannot vouch for its memory. */
  readonly runId: string | null;
}

export interface SessionWatch {
  current(): Session | null;
  /** Calls back whenever a session begins. */
  onBegin(listener: () => void): void;
  /** Resolves once the first session began or the first attempt failed. */
  readonly firstAttempt: Promise<void>;
  /** Ends the session for good, without reporting a loss. */
  close(): void;
}

export function watchSession(redis: Redis, log: CoordinationLog | undefined): SessionWatch {
  const listeners: Array<() => void> = [];
  const attempt = Promise.withResolvers<void>();
  let session: Session | null = null;
  let reported: "up" | "down" | undefined;
  let connections = 0;
  let closed = false;

  function report(state: "up" | "down"): void {
    attempt.resolve();
    if (closed || reported === state) return;
    reported = state;
    if (state === "up") log?.info({}, "coordination store found");
    else log?.warn({}, "coordination store lost");
  }

  redis.on("ready", () => {
    connections += 1;
    const connection = connections;
    void readRunId(redis).then((answer) => {
      // An answer that outlived its connection says nothing about the next server.
      if (closed || connection !== connections) return;
      if (answer.state === "lost") {
        redis.disconnect(true);
        return;
      }
      session = { runId: answer.runId };
      report("up");
      for (const listener of listeners) listener();
    });
  });
  redis.on("close", () => {
    connections += 1;
    session = null;
    report("down");
  });

  return {
    current: () => session,
    onBegin: (listener) => {
      listeners.push(listener);
    },
    firstAttempt: attempt.promise,
    close() {
      closed = true;
      session = null;
      attempt.resolve();
    },
  };
}

type RunIdAnswer = { readonly state: "told"; readonly runId: string | null } | { readonly state: "lost" };

async function readRunId(redis: Redis): Promise<RunIdAnswer> {
  try {
    const info = await redis.info("server");
    return { state: "told", runId: /^run_id:(\S+)/m.exec(info)?.[1] ?? null };
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("NOPERM")) return { state: "told", runId: null };
    return { state: "lost" };
  }
}
