/**
 * The thread that renews every claim of this process. It has its own event loop and its
 * own connection, so that a handler that computes for a minute keeps its claim. It lives
 * and dies with the process: killed together, frozen together.
 */
import { parentPort, workerData } from "node:worker_threads";
import { createClient } from "./client.ts";
import { monotonicMs } from "./clock.ts";
import { createHeartbeatLoop } from "./heartbeat-loop.ts";
import type { FromThread, HeartbeatSetup, ToThread } from "./heartbeat-messages.ts";

function main(): void {
  const port = parentPort;
  if (port === null) throw new Error("The heartbeat thread is started by a worker, not by hand");
  const { urls, token, agent, workerId } = workerData as HeartbeatSetup;
  const client = createClient({ urls, token, agent, workerId });
  const report = (message: FromThread): void => port.postMessage(message);

  const loop = createHeartbeatLoop({
    // One try a call: the loop itself decides when to try again, and each try starts a window of its own.
    refresh: (refreshes, timeoutMs) => client.refresh(refreshes, { timeoutMs, retryForMs: 0 }),
    report,
    now: monotonicMs,
  });

  port.on("message", ({ beat }: ToThread) => loop.attach(beat));
  report({ type: "ready" });
}

main();
