/**
 * A worker whose handler computes without a pause, in a process of its own: blocking the
 * event loop of the test would block its server too.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createWorker } from "../../../services/worker-sdk/worker.ts";

export interface BlockedReport {
  readonly aborted: boolean;
  readonly blockedMs: number;
}

/** Runs this file as a program until its one item is done. */
export async function startBlockedWorker(url: string, spinMs: number): Promise<BlockedReport> {
  const child = fork(new URL(import.meta.url), [url, String(spinMs)], { execArgv: [] });
  const [report] = (await once(child, "message")) as [BlockedReport];
  await once(child, "exit");
  return report;
}

async function main(url: string, spinMs: number): Promise<void> {
  const report = { aborted: false, blockedMs: 0 };
  const worker = createWorker({
    url,
    agent: { id: "spinner", kind: "subagent" },
    ttlSeconds: 1,
    untilEmpty: true,
    async handler(_item, { signal }) {
      const untilMs = performance.now() + spinMs;
      while (performance.now() < untilMs);
      // One turn of the loop, in which a wrong timer would abort before the renewals are read.
      await new Promise((resolve) => void setTimeout(resolve, 50));
      report.aborted = signal.aborted;
    },
    onEvent(event) {
      if (event.type === "event_loop_blocked") report.blockedMs = event.blockedMs;
    },
  });
  await worker.run();
  process.send?.(report);
  process.disconnect();
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  const [url = "", spinMs = "0"] = process.argv.slice(2);
  await main(url, Number(spinMs));
}
