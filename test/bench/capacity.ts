/**
 * `npm run capacity`: how cost grows, for docs/scaling.md. One engine over one Postgres and one
 * Redis on this machine; each section changes one thing and leaves the rest alone.
 *
 *   --seconds 3   per cell      --rows 10000,100000   queued items      --claims 1000,10000   live claims
 *   --write       puts the tables into docs/scaling.md
 */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { createRedisCoordination } from "../../services/coordination/redis/redis-coordination.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { createBenchEngine } from "./bench-engine.ts";
import { engine } from "./contenders/engine.ts";
import { measure } from "./measure.ts";
import { plantQueue } from "./plant-queue.ts";
import { machine } from "./report.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rows: { type: "string", default: "10000,100000" },
    agents: { type: "string", default: "1,8,32,128,256" },
    claims: { type: "string", default: "1000,10000" },
    write: { type: "boolean", default: false },
  },
});
const numbersOf = (text: string): number[] => text.split(",").map(Number);
const GUIDE = new URL("../../docs/scaling.md", import.meta.url);
/** Sessions of one agent; each holds one item. */
const SESSIONS = 100;
/** Calls under way at once, as of so many workers' clients. */
const CLIENTS = 16;

await using postgres = await startPostgres();
const redis = await startRedis();
const sql = new Client({ connectionString: postgres.url });
await sql.connect();
try {
  const report = [
    `Machine: ${machine()}; client, PostgreSQL and Redis share it.`,
    "",
    ...(await cyclesByItemsAndAgents()),
    "",
    ...(await heartbeats()),
  ].join("\n");
  console.log(report);
  if (values.write) insertInto(GUIDE, report);
} finally {
  await sql.end();
  await redis.stop();
}

/** Complete and claim the next in one call; and what a finished item leaves on disk. */
async function cyclesByItemsAndAgents(): Promise<string[]> {
  const agents = numbersOf(values.agents);
  const lines = [
    `| queued items | ${agents.map((n) => `${n} agent${n === 1 ? "" : "s"}`).join(" | ")} | bytes a finished item leaves |`,
    `| --- |${agents.map(() => " --- |").join("")} --- |`,
  ];
  for (const rows of numbersOf(values.rows)) {
    const contender = await engine(postgres.url, redis.url, { claimNext: true });
    const sizeBefore = { bytes: 0, done: 0 };
    try {
      const cells = await measure([prepared(contender, sizeBefore)], {
        callers: agents,
        rounds: 1,
        secondsPerCell: Number(values.seconds),
        rows,
      });
      const { bytes, done } = await stored();
      const each = Math.round((bytes - sizeBefore.bytes) / Math.max(1, done - sizeBefore.done));
      const rates = cells.map(({ rates: [rate = 0] }) => `${Math.round(rate)}/s`);
      lines.push(`| ${rows.toLocaleString("en")} | ${rates.join(" | ")} | ${each.toLocaleString("en")} |`);
    } finally {
      await contender.close();
    }
  }
  return lines;
}

type Contender = Awaited<ReturnType<typeof engine>>;

/** Notes what is there once the queue has been filled. */
function prepared(contender: Contender, before: { bytes: number; done: number }): Contender {
  return {
    ...contender,
    async prepare(rows) {
      await contender.prepare(rows);
      Object.assign(before, await stored());
    },
  };
}

async function stored(): Promise<{ bytes: number; done: number }> {
  const { rows } = await sql.query<{ bytes: number; done: number }>(
    `select sum(pg_total_relation_size(c.oid))::float8 as bytes,
       (select count(*)::int from attempts where end_reason = 'completed') as done
     from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
  );
  return rows[0] ?? { bytes: 0, done: 0 };
}

/** Refreshes of claims that are all alive, one a call; and how many of them reached Postgres. */
async function heartbeats(): Promise<string[]> {
  const lines = [
    "| live claims | refreshes | of them written to PostgreSQL | held with a ttl of 60 s | of 900 s |",
    "| --- | --- | --- | --- | --- |",
  ];
  const opened = await openDatabase({ url: postgres.url, poolSize: 8 });
  await migrate(opened.db);
  const coordination = createRedisCoordination({ url: redis.url, prefix: `capacity-${randomUUID()}:` });
  await coordination.health();
  const muster = createBenchEngine(opened, coordination);
  try {
    for (const count of numbersOf(values.claims)) {
      await plantQueue(opened.db, count);
      const held = await claimAll(muster, count);
      const before = await renewals();
      const rate = await beatFor(muster, held, Number(values.seconds) * 1_000);
      const written = (await renewals()) - before;
      const share = Math.round((100 * written) / (rate * Number(values.seconds)));
      // A worker beats three times a ttl.
      const holdable = (ttl: number): string => Math.round((rate * ttl) / 3).toLocaleString("en");
      lines.push(
        `| ${count.toLocaleString("en")} | ${Math.round(rate).toLocaleString("en")}/s | ${share}% | ${holdable(60)} | ${holdable(900)} |`,
      );
    }
  } finally {
    await muster.close();
    await coordination.close();
    await opened.close();
  }
  return lines;
}

interface Held {
  readonly agent: string;
  readonly itemId: string;
  readonly fence: number;
}

/** Every item under a session of its own. */
async function claimAll(muster: ReturnType<typeof createBenchEngine>, count: number): Promise<Held[]> {
  const held: Held[] = [];
  const claim = async (index: number): Promise<void> => {
    const agent = `agent-${Math.floor(index / SESSIONS)}`;
    const output = await muster.call("claim_item", {
      actor: { id: agent, kind: "subagent" },
      workerId: sessionOf(index),
      requestId: randomUUID(),
      claims: [{ selector: {}, start: true, ttlSeconds: 900 }],
    });
    const [result] = output["claims"] as { outcome: string; itemId: string; fence: number }[];
    if (result?.outcome !== "success") throw new Error(`not claimed: ${JSON.stringify(result)}`);
    held[index] = { agent, itemId: result.itemId, fence: result.fence };
  };
  for (let done = 0; done < count; done += 64) {
    const batch = Array.from({ length: Math.min(64, count - done) }, (_, index) => claim(done + index));
    await Promise.all(batch);
  }
  return held;
}

function sessionOf(index: number): string {
  return `slot-${index % SESSIONS}`;
}

/** Refreshes a second, each claim in its turn. */
async function beatFor(
  muster: ReturnType<typeof createBenchEngine>,
  held: readonly Held[],
  ms: number,
): Promise<number> {
  let beats = 0;
  let turn = 0;
  const endsAt = performance.now() + ms;
  const beat = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const index = turn++ % held.length;
      const one = held[index] as Held;
      const output = await muster.call("claim_item", {
        actor: { id: one.agent, kind: "subagent" },
        workerId: sessionOf(index),
        requestId: randomUUID(),
        refreshes: [{ itemId: one.itemId, fence: one.fence }],
      });
      const [result] = output["refreshes"] as { outcome: string }[];
      if (result?.outcome !== "success") throw new Error(`not refreshed: ${JSON.stringify(result)}`);
      beats += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, beat));
  return beats / (ms / 1_000);
}

/** Rows of the hot table that were written since the server started. */
async function renewals(): Promise<number> {
  await sql.query("select pg_stat_clear_snapshot()");
  const { rows } = await sql.query<{ written: number }>(
    "select n_tup_upd::int as written from pg_stat_user_tables where relname = 'item_state'",
  );
  return rows[0]?.written ?? 0;
}

/** Between the two marks of the guide. */
function insertInto(file: URL, report: string): void {
  const marks = /(<!-- figures -->\n)[^]*?(<!-- end of figures -->)/;
  const text = readFileSync(file, "utf8");
  if (!marks.test(text)) throw new Error("the guide has no place for figures");
  writeFileSync(
    file,
    text.replace(marks, (_, from: string, to: string) => `${from}\n${report}\n\n${to}`),
  );
}
