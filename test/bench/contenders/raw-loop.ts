/** What a careful engineer writes by hand: claim with SKIP LOCKED, complete, two commits. No audit, no fence, no expiry. */
import { Pool } from "pg";
import type { Contender } from "../contender.ts";

export function rawLoop(url: string): Contender {
  const pool = new Pool({ connectionString: url, max: 16 });
  return {
    name: "raw loop",
    cycle: "update … where id = (select … for update skip locked limit 1), then update to done",
    async prepare(count) {
      await pool.query("drop table if exists bench_raw");
      await pool.query(
        `create table bench_raw (id uuid primary key default gen_random_uuid(), state text not null default 'queued',
           priority int not null, created_at timestamptz not null default now(), worker text) with (fillfactor = 70)`,
      );
      await pool.query(
        "insert into bench_raw (priority) select (random() * 47)::int from generate_series(1, $1::int)",
        [count],
      );
      await pool.query(
        "create index bench_raw_ready on bench_raw (priority, created_at, id) where state = 'queued'",
      );
      await pool.query("vacuum analyze bench_raw");
    },
    async run(caller) {
      const { rows } = await pool.query<{ id: string }>({
        name: "raw_claim",
        text: `update bench_raw set state = 'held', worker = $1 where id = (
            select id from bench_raw where state = 'queued' order by priority, created_at, id
            for update skip locked limit 1) returning id`,
        values: [`w${caller}`],
      });
      const id = rows[0]?.id;
      if (id === undefined) throw new Error("the raw loop ran dry");
      await pool.query({
        name: "raw_done",
        text: "update bench_raw set state = 'done' where id = $1",
        values: [id],
      });
      return id;
    },
    close: () => pool.end(),
  };
}
