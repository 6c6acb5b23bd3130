/**
 * `npm run bench`: claim + complete beside what else there is, on one Postgres, in one run.
 *
 *   --rounds 5  --seconds 2  --rows 100000  --callers 1,8,32,256  --only "muster engine,raw loop"
 *   --part tree   only the tree of 1,000 items and the brief of 50 notes
 *   --part retention   only claims beside retention; --retention 1000000 says how many old rows, 0 leaves it out
 *   --write     also writes docs/benchmarks.md
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { briefStatements } from "./brief.ts";
import { engine } from "./contenders/engine.ts";
import { pgBoss } from "./contenders/pg-boss.ts";
import { rawLoop } from "./contenders/raw-loop.ts";
import { rowUpdate } from "./contenders/row-update.ts";
import { measure } from "./measure.ts";
import { besideRetention } from "./beside-retention.ts";
import { duplicatesOf, machine, table } from "./report.ts";
import { type TreeCost, treeCost } from "./tree.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    rows: { type: "string", default: "100000" },
    callers: { type: "string", default: "1,8,32,256" },
    only: { type: "string" },
    part: { type: "string" },
    retention: { type: "string", default: "1000000" },
    write: { type: "boolean", default: false },
  },
});

await using postgres = await startPostgres();
const report = await partOf(values.part);
console.log(report.join("\n"));
if (values.write) {
  writeFileSync(
    new URL("../../docs/benchmarks.md", import.meta.url),
    `# Benchmarks\n\n${report.join("\n")}\n`,
  );
}

async function partOf(part: string | undefined): Promise<string[]> {
  if (part === "tree") return [`Machine: ${machine()}.`, "", await trees()];
  if (part === "retention") return [`Machine: ${machine()}.`, ...(await retention())];
  return [...(await queues()), "", await trees(), ...(await retention())];
}

/** Claims beside a scheduler that lets go of old rows. */
async function retention(): Promise<string[]> {
  const redis = await startRedis();
  try {
    return await besideRetention(postgres.url, redis.url, {
      oldRows: Number(values.retention),
      rounds: Number(values.rounds),
      secondsPerCell: Number(values.seconds),
      rows: Number(values.rows),
    });
  } finally {
    await redis.stop();
  }
}

/** Claim + complete, beside its peers. */
async function queues(): Promise<string[]> {
  const redis = await startRedis();
  try {
    const all = [
      rowUpdate(postgres.url),
      rawLoop(postgres.url),
      pgBoss(postgres.url),
      await engine(postgres.url, redis.url),
      await engine(postgres.url, redis.url, { name: "muster engine, one call an item", claimNext: true }),
    ];
    const only = values.only?.split(",");
    const contenders = all.filter((one) => only === undefined || only.includes(one.name));
    try {
      const rows = Number(values.rows);
      const cells = await measure(contenders, {
        callers: values.callers.split(",").map(Number),
        rounds: Number(values.rounds),
        secondsPerCell: Number(values.seconds),
        rows,
        onCell: (cell, rate, round) =>
          console.error(
            `round ${round + 1}: ${cell.contender}, ${cell.callers} callers: ${Math.round(rate)} cycles/s`,
          ),
      });
      return [
        `Median of ${values.rounds} interleaved rounds of ${values.seconds} s, ${rows.toLocaleString("en")} queued rows, fsync on.`,
        `Machine: ${machine()}; client and servers share it. Only the ratios travel.`,
        "",
        table(cells, "raw loop"),
        "",
        `Items handed out twice: ${duplicatesOf(cells)}.`,
      ];
    } finally {
      for (const contender of all) await contender.close();
    }
  } finally {
    await redis.stop();
  }
}

/** Trees of 1,000 items, and the brief of one item: their promises are absolute. */
async function trees(): Promise<string> {
  const rounds = Number(values.rounds);
  const say = ({ seconds, cpuSeconds }: TreeCost): string =>
    `${seconds.toFixed(2)} s, of which ${cpuSeconds.toFixed(2)} s of processor time`;
  const plain = await treeCost(postgres.url, rounds, false);
  const noted = await treeCost(postgres.url, rounds, true);
  const brief = await briefStatements(postgres.url);
  return [
    `A tree of 1,000 items in one call: ${say(plain)}; with a note on each: ${say(noted)}.`,
    `A brief of an item with 50 notes: ${brief.length} statements.`,
  ].join("\n");
}
