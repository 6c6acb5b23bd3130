/** Processor time, which a busy machine does not stretch as it stretches the time on the wall. */
import { readFileSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../db/schema.ts";

/** Linux counts a process's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Seconds that this process and the database's backends have used; of this process alone where `/proc` is not there. */
export async function cpuSeconds(db: Kysely<Database>): Promise<number> {
  const { user, system } = process.cpuUsage();
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(db);
  const ticks = rows.reduce((sum, { pid }) => sum + ticksOf(pid), 0);
  return (user + system) / 1e6 + ticks / TICKS_PER_SECOND;
}

function ticksOf(pid: number): number {
  try {
    // Behind the name, which may hold blanks: user time is the 12th field, system time the 13th.
    const [, behind = ""] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const fields = behind.split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}
