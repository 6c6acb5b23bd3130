/**
 * Claims while retention lets go of old rows beside them, as a scheduler of its own would. Each
 * round measures the same claims without and with it, one after the other, so that a noisy
 * minute hits both.
 */
import { type Kysely, sql } from "kysely";
import { openDatabase } from "../../db/open.ts";
import type { Database } from "../../db/schema.ts";
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import { createRetentionLoop } from "../../services/scheduler/retention-loop.ts";
import { createBenchEngine } from "./bench-engine.ts";
import { engine } from "./contenders/engine.ts";
import { median, runFor } from "./measure.ts";

const CALLERS = 32;
const QUIET = { info: () => {}, warn: (data: object, text: string) => console.error(text, data) };

export interface BesideRetention {
  /** Rows that are older than their window; none leaves this part out. */
  readonly oldRows: number;
  readonly rounds: number;
  readonly secondsPerCell: number;
  /** Queued items. */
  readonly rows: number;
}

/** Lines of the report. */
export async function besideRetention(
  url: string,
  redisUrl: string,
  { oldRows, rounds, secondsPerCell, rows }: BesideRetention,
): Promise<string[]> {
  if (oldRows === 0) return [];
  const claims = await engine(url, redisUrl);
  const opened = await openDatabase({ url, poolSize: 2 });
  const coordination = createLocalCoordination();
  const scheduler = createBenchEngine(opened, coordination);
  const alone: number[] = [];
  const beside: number[] = [];
  const pace: number[] = [];
  try {
    await claims.prepare(rows);
    await plantOld(opened.db, oldRows);
    for (let round = 0; round < rounds; round += 1) {
      alone.push((await runFor(claims, CALLERS, secondsPerCell)).rate);
      let deleted = 0;
      const loop = createRetentionLoop({
        engine: {
          async retain(signal) {
            const report = await scheduler.retain(signal);
            deleted += report.deleted;
            return report;
          },
        },
        log: QUIET as never,
      });
      const startedAt = performance.now();
      loop.start();
      beside.push((await runFor(claims, CALLERS, secondsPerCell)).rate);
      await loop.stop();
      pace.push(deleted / ((performance.now() - startedAt) / 1000));
    }
  } finally {
    await scheduler.close();
    await coordination.close();
    await opened.close();
    await claims.close();
  }
  const ratio = median(beside.map((rate, round) => rate / (alone[round] ?? rate)));
  return [
    "",
    `While retention lets go of ${Math.round(median(pace)).toLocaleString("en")} of ${oldRows.toLocaleString("en")} old rows a second, ` +
      `${CALLERS} callers claim and complete at ${ratio.toFixed(2)} of their rate without it.`,
  ];
}

/** Half of them events, a quarter answers to repeated calls, a quarter tenures of items that are gone. */
async function plantOld(db: Kysely<Database>, count: number): Promise<void> {
  const age = "muster_now() - interval '2 years'";
  const some = (part: number): string => `generate_series(1, ${Math.floor(count / part)}) n`;
  const statements = [
    `truncate retention_passes`,
    `insert into events (type, at) select 'old', ${age} from ${some(2)}`,
    `insert into idempotency (principal, key, element, operation, fingerprint, answer, created_at)
     select 'old', gen_random_uuid(), 'c0', 'claim_item', 'f', '{}', ${age} from ${some(4)}`,
    `insert into attempts (item_id, fence, agent, session, claimed_at, ended_at, end_reason)
     select gen_random_uuid(), 1, 'old', 's', ${age}, ${age}, 'completed' from ${some(4)}`,
    `vacuum analyze`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
