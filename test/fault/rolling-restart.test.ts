/**
 * An upgrade as an operator does it: one API and one scheduler after the other is told to stop
 * and started again, three times over, while 32 workers are busy. Nobody may notice.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client as PgClient } from "pg";
import { type Crew, startCrew } from "../../scripts/demo/crew.ts";
import { createView, type View } from "../../scripts/demo/view.ts";
import { createClient, type Client } from "../../services/worker-sdk/index.ts";
import { createFleet, type Fleet, isReady } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { type MusterProcess, spawnMuster } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { allAttempts, unfinished } from "./fleet-run/truth.ts";

const ROUNDS = 3;
const PROCESSES = 8;
const SLOTS = 4;
const WORK_MS = 2_000;
const TTL_SECONDS = 15;
/** So many hold something at each stop. */
const BUSY_MIN = 24;
const RESERVE = 200;

let folder: string;
let fleet: Fleet;
let ports: readonly number[];
let apis: MusterProcess[];
let schedulers: MusterProcess[];
let database: PgClient;
let planner: Client;
let rootId: string;
let view: View;
let crew: Crew;
let planted = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "muster-rolling-"));
  fleet = await createFleet();
  ports = [await freePort(), await freePort()];
  const first = await fleet.scheduler();
  schedulers = [first, await fleet.scheduler()];
  apis = await Promise.all(ports.map((port) => startApi(port)));
  await until(async () => (await Promise.all(apis.map(isReady))).every(Boolean), 60_000);
  database = new PgClient({ connectionString: fleet.env["MUSTER_DATABASE_URL"] });
  await database.connect();
  const urls = apis.map(({ url }) => url);
  planner = createClient({ urls, agent: { id: "planner", kind: "orchestrator" } });
  rootId = await plantRoot();
  await plantMore();
  view = createView(planner, urls, rootId);
  const names = Array.from({ length: PROCESSES }, (_, index) => `worker-${index + 1}`);
  crew = startCrew({ names, urls, rootId, folder, slots: SLOTS, ttlSeconds: TTL_SECONDS, workMs: WORK_MS });
});
afterAll(async () => {
  await crew?.[Symbol.asyncDispose]();
  planner?.close();
  await Promise.all([...(apis ?? [])].map((one) => one.kill()));
  await database?.end();
  await fleet?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** At the address that its clients know, as behind a Service. */
function startApi(port: number): Promise<MusterProcess> {
  return spawnMuster(["api"], { ...fleet.env, MUSTER_PORT: String(port) });
}

async function plantRoot(): Promise<string> {
  const answer = await planner.call("manage_items", {
    operation: "create",
    items: [{ title: "an upgrade" }],
  });
  return (answer as { items: { id: string }[] }).items[0]?.id ?? "";
}

/** The queue never runs dry while processes come and go. */
async function plantMore(): Promise<void> {
  for (let done = 0; done < RESERVE; done += 100) {
    const items = Array.from({ length: 100 }, () => ({ title: `task ${(planted += 1)}`, parentId: rootId }));
    await planner.call("manage_items", { operation: "create", items });
  }
}

async function whileBusy(act: () => Promise<void>): Promise<void> {
  if ((await remaining()) < RESERVE) await plantMore();
  await until(async () => (await view.claims()).filter(({ lapsed }) => !lapsed).length >= BUSY_MIN, 60_000);
  await act();
}

describe("a rolling restart", () => {
  it("of both APIs and both schedulers, three times, under 32 busy workers: nothing is lost, doubled, lapsed or even noticed", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, port] of ports.entries()) {
        await whileBusy(async () => {
          expect(await apis[index]?.stop()).toMatchObject({ code: 0 });
          apis[index] = await startApi(port);
          await until(() => isReady(apis[index] as MusterProcess), 60_000);
        });
      }
      for (const index of schedulers.keys()) {
        await whileBusy(async () => {
          expect(await schedulers[index]?.stop()).toMatchObject({ code: 0 });
          schedulers[index] = await fleet.scheduler();
        });
      }
    }
    await until(async () => (await remaining()) === 0, 240_000);
    expect([...(await crew.stop()).values()]).toEqual(Array.from({ length: PROCESSES }, () => 0));
    await expectNobodyNoticed();
  });
});

async function remaining(): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    "select count(*)::int from item_state where parent_id = $1 and role <> 'terminal'",
    [rootId],
  );
  return rows[0]?.count ?? 0;
}

/** The tables and the workers' own files agree: every task once, every tenure ended by its work. */
async function expectNobodyNoticed(): Promise<void> {
  expect(await unfinished(database)).toEqual([]);
  const attempts = await allAttempts(database);
  expect(attempts.filter(({ endReason }) => endReason !== "completed")).toEqual([]);
  expect(attempts).toHaveLength(planted);
  expect(new Set(attempts.map(({ itemId }) => itemId)).size).toBe(planted);
  const lines = crew.workers.flatMap(({ journal }) => (journal.readNew(), [...journal.lines]));
  expect(lines.filter(({ kind }) => kind === "ended")).toEqual([]);
  expect(lines.filter(({ kind }) => kind === "finished")).toHaveLength(planted);
}
