/** The processes that serve a database. They live in real time, so nothing here goes by the clock that tests move. */
import { type Handle, statement } from "../statement.ts";

export interface ServingProcess {
  readonly id: string;
  readonly kind: string;
  readonly version: string;
  /** Fingerprint of its configuration file; null: it has none. */
  readonly config: string | null;
  readonly host: string;
  readonly pid: number;
  /** How far its wall clock is ahead of the database's. */
  readonly skewMs: number;
  readonly pool: { readonly max: number; readonly busy: number; readonly waiting: number } | null;
}

const save = statement<never>(
  "processes_save",
  `insert into processes as p (id, kind, version, config, host, pid, skew_ms, pool_max, pool_busy, pool_waiting)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   on conflict (id) do update set config = excluded.config, seen_at = now(), skew_ms = excluded.skew_ms,
     pool_max = excluded.pool_max, pool_busy = excluded.pool_busy, pool_waiting = excluded.pool_waiting`,
);

const forgetOld = statement<never>(
  "processes_forget_old",
  `delete from processes where seen_at < now() - interval '1 hour'`,
);

/** Says that the process is there, and forgets those that went without a word. */
export async function saveProcess(handle: Handle, one: ServingProcess): Promise<void> {
  const pool = one.pool === null ? [null, null, null] : [one.pool.max, one.pool.busy, one.pool.waiting];
  const about = [one.id, one.kind, one.version, one.config, one.host, one.pid, Math.round(one.skewMs)];
  await save(handle, [...about, ...pool]);
  await forgetOld(handle, []);
}

const remove = statement<never>("processes_remove", `delete from processes where id = $1`);

export async function removeProcess(handle: Handle, id: string): Promise<void> {
  await remove(handle, [id]);
}

interface Row {
  id: string;
  kind: string;
  version: string;
  config: string | null;
  host: string;
  pid: number;
  skew_ms: number;
  pool_max: number | null;
  pool_busy: number | null;
  pool_waiting: number | null;
}

const present = statement<Row>(
  "processes_present",
  `select id, kind, version, config, host, pid, skew_ms, pool_max, pool_busy, pool_waiting
   from processes where seen_at > now() - $1 * interval '1 millisecond' order by kind, host, pid limit 1000`,
);

/** Those that were heard of within so long. */
export async function findProcesses(handle: Handle, withinMs: number): Promise<ServingProcess[]> {
  return (await present(handle, [withinMs])).map((row) => ({
    id: row.id,
    kind: row.kind,
    version: row.version,
    config: row.config,
    host: row.host,
    pid: row.pid,
    skewMs: row.skew_ms,
    pool:
      row.pool_max === null
        ? null
        : { max: row.pool_max, busy: row.pool_busy ?? 0, waiting: row.pool_waiting ?? 0 },
  }));
}

const clock = statement<{ now: Date }>("processes_clock", `select muster_now() as now`);

/** How far this machine's wall clock is ahead of the database's; right to within half a round trip. */
export async function measureSkewMs(handle: Handle): Promise<number> {
  const before = Date.now();
  const [row] = await clock(handle, []);
  if (row === undefined) throw new Error("The database told no time.");
  return (before + Date.now()) / 2 - row.now.getTime();
}
