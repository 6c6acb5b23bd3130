/**
 * `npm run bench`: claim + complete beside what else there is, on one Postgres, in one run.
 *
 *   --rounds 5  --seconds 2  --rows 100000  --callers 1,8,32,256  --only "muster engine,raw loop"
 *   --write     also writes docs/benchmarks.md
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { engine } from "./contenders/engine.ts";
import { pgBoss } from "./contenders/pg-boss.ts";
import { rawLoop } from "./contenders/raw-loop.ts";
import { rowUpdate } from "./contenders/row-update.ts";
import { measure } from "./measure.ts";
import { duplicatesOf, machine, table } from "./report.ts";
import { treeSeconds } from "./tree.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    rows: { type: "string", default: "100000" },
    callers: { type: "string", default: "1,8,32,256" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
  },
});

await using postgres = await startPostgres();
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
    const report = [
      `Median of ${values.rounds} interleaved rounds of ${values.seconds} s, ${rows.toLocaleString("en")} queued rows, fsync on.`,
      `Machine: ${machine()}; client and servers share it. Only the ratios travel.`,
      "",
      table(cells, "raw loop"),
      "",
      `Items handed out twice: ${duplicatesOf(cells)}.`,
      "",
      `A tree of 1,000 items in one call: ${(await treeSeconds(postgres.url, Number(values.rounds))).toFixed(2)} s.`,
    ].join("\n");
    console.log(report);
    if (values.write)
      writeFileSync(new URL("../../docs/benchmarks.md", import.meta.url), `# Benchmarks\n\n${report}\n`);
  } finally {
    for (const contender of all) await contender.close();
  }
} finally {
  await redis.stop();
}
