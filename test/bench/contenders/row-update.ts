/** The floor of any durable write: one row updated by its primary key, one commit. */
import { Pool } from "pg";
import type { Contender } from "../contender.ts";

export function rowUpdate(url: string): Contender {
  const pool = new Pool({ connectionString: url, max: 16 });
  let rows = 1;
  return {
    name: "row update",
    cycle: "update one row by its key",
    async prepare(count) {
      rows = count;
      await pool.query("drop table if exists bench_floor");
      await pool.query(
        "create table bench_floor (id int primary key, n int not null default 0) with (fillfactor = 70)",
      );
      await pool.query("insert into bench_floor (id) select generate_series(1, $1::int)", [count]);
      await pool.query("vacuum analyze bench_floor");
    },
    async run() {
      const id = 1 + Math.floor(Math.random() * rows);
      await pool.query({
        name: "floor",
        text: "update bench_floor set n = n + 1 where id = $1",
        values: [id],
      });
      return "";
    },
    close: () => pool.end(),
  };
}
