/** pg-boss as its documentation shows it: fetch one, complete it. */
import { PgBoss } from "pg-boss";
import type { Contender } from "../contender.ts";

const QUEUE = "bench";

export function pgBoss(url: string): Contender {
  const boss = new PgBoss({ connectionString: url, max: 16, supervise: false, schedule: false });
  let started = false;
  return {
    name: "pg-boss",
    cycle: "fetch one job, complete it",
    async prepare(count) {
      if (!started) {
        await boss.start();
        started = true;
      }
      await boss.createQueue(QUEUE).catch(() => undefined);
      await boss.deleteAllJobs(QUEUE).catch(() => undefined);
      for (let done = 0; done < count; done += 5_000) {
        const jobs = Array.from({ length: Math.min(5_000, count - done) }, (_, n) => ({
          data: { n },
          priority: n % 48,
        }));
        await boss.insert(QUEUE, jobs);
      }
      const db = boss.getDb();
      await db.executeSql("analyze");
    },
    async run() {
      const [job] = await boss.fetch(QUEUE);
      if (job === undefined) throw new Error("pg-boss ran dry");
      await boss.complete(QUEUE, job.id);
      return job.id;
    },
    close: () => boss.stop({ graceful: false }),
  };
}
