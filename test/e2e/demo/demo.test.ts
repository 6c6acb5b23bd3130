/** The demo as people run it: a process of its own, judged by its exit code and its account. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import { startRedis } from "../../support/redis-server.ts";
import { testDatabaseUrl, testRedisUrl } from "../../support/run.ts";

const DEMO = fileURLToPath(new URL("../../../scripts/demo.ts", import.meta.url));
const RUN_MS_MAX = 90_000;

/** Everything that the demo makes on disk is made in here. */
let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "muster-demo-test-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Demo {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | NodeJS.Signals>;
}

function startDemo(args: readonly string[], settings: NodeJS.ProcessEnv = {}): Demo {
  const child = spawn(process.execPath, [DEMO, ...args], {
    env: { ...process.env, MUSTER_DATABASE_URL: "", MUSTER_REDIS_URL: "", TMPDIR: folder, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_MS_MAX);
  const ended = once(child, "close").then(([code, signal]) => {
    clearTimeout(timer);
    return (signal ?? code) as number | NodeJS.Signals;
  });
  return { child, output: () => output, ended };
}

/** One row of the account: what the workers' files say, and what Muster says. */
function row(output: string, what: string): readonly string[] {
  const line = output.split("\n").find((each) => each.trim().startsWith(`${what}  `));
  return (
    line
      ?.trim()
      .split(/\s{2,}/)
      .slice(1) ?? []
  );
}

async function expectGoodEnd(demo: Demo): Promise<void> {
  const end = await demo.ended;
  const output = demo.output();
  expect({ end, output }).toMatchObject({ end: 0 });
  expect(output).toMatch(/worker-\d was killed \(SIGKILL\) while it held "/);
  expect(output).toMatch(/worker-\d took over "[^"]+", attempt 2/);
  const [byFiles, byMuster] = row(output, "tasks finished");
  expect([byFiles, byMuster]).toEqual(["54", "54"]);
  expect(row(output, "finished twice")).toEqual(["0", "-"]);
  expect(row(output, "items done")).toEqual(["-", "64/64"]);
  expect(Number(row(output, "takeovers")[0])).toBeGreaterThanOrEqual(1);
  expect(row(output, "attempts")[0]).toBe(row(output, "attempts")[1]);
  expect(output).toContain("Every item was done exactly once: 64 of 64");
  // Nothing of it is left behind.
  expect(readdirSync(folder)).toEqual([]);
}

describe("the demo", () => {
  it("drains its tree alone though a worker is killed in mid-item, and says so", async () => {
    await expectGoodEnd(startDemo([]));
  });

  it("drains its tree as a fleet though a worker and an API are killed, and says so", async () => {
    // Of its own: the keys of a fleet have no prefix that would tell them from those of other tests.
    await using redis = await startRedis();
    const urls = { MUSTER_DATABASE_URL: testDatabaseUrl(), MUSTER_REDIS_URL: redis.url };
    const demo = startDemo(["--fleet"], urls);
    await expectGoodEnd(demo);
    expect(demo.output()).toContain("api-1 was killed (SIGKILL); the workers go on with api-2");
  });

  it("cleans up after Ctrl-C in the middle of the work", async () => {
    const demo = startDemo([]);
    await Promise.race([until(() => demo.output().includes(" finished "), 60_000), demo.ended]);
    expect(demo.output()).toContain(" finished ");
    demo.child.kill("SIGINT");
    expect(await demo.ended).toBe(130);
    expect(demo.output()).toContain("Interrupted.");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says what it needs when the Postgres it was given cannot be used, and leaves nothing behind", async () => {
    const urls = { MUSTER_DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/muster` };
    const demo = startDemo(["--fleet"], { ...urls, MUSTER_REDIS_URL: testRedisUrl() });
    expect(await demo.ended).toBe(69);
    expect(demo.output()).toContain("could not make itself a database at MUSTER_DATABASE_URL");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses options that it does not know", async () => {
    const demo = startDemo(["--flet"]);
    expect(await demo.ended).toBe(2);
    expect(demo.output()).toContain("Usage: npm run demo [-- --fleet]");
  });
});
