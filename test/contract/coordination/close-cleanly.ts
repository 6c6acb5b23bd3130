/**
 * A process that opens coordination, closes it, and must then end by itself: whatever
 * keeps it alive is a handle that close() forgot. Usage: close-cleanly.ts <url> <moment>...
 */
import { setTimeout as delay } from "node:timers/promises";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";

const [url = "", ...moments] = process.argv.slice(2);
const never = new AbortController().signal;

for (const moment of moments) {
  const coordination = createRedisCoordination({ url });
  if (moment === "in-use") {
    await coordination.health();
    await coordination.counters.take("key", 1, 1_000, 1);
    void coordination.wakeUps.ticket(["a"]).wait(60_000, never);
  }
  // Either way an attempt has failed by then and the next one is under way.
  if (moment === "reconnecting") {
    await coordination.health();
    await delay(50);
  }
  await coordination.close();
}
