/** Agents that finish what they hold and take nothing new. The claims read it within their own opening statement. */
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

const insert = statement<{ drained_at: Date; changed: boolean }>(
  "agent_drains_set",
  `insert into agent_drains as d (agent, reason, drained_by, actor, verification)
   values ($1, $2, $3, $4::jsonb, $5::jsonb)
   on conflict (agent) do update set reason = excluded.reason
   returning d.drained_at, d.xmax = 0 as changed`,
);

export interface DrainSet {
  /** Null once it is drained no more. */
  readonly drainedAt: Date | null;
  /** False if it was so before. */
  readonly changed: boolean;
}

/** Drained again it keeps its instant, and gets the new reason. */
export async function setDrain(handle: Handle, agent: string, reason: string, by: Author): Promise<DrainSet> {
  const [row] = await insert(handle, [agent, reason, ...authorValues(by)]);
  if (row === undefined) throw new Error("a drain that was stored was not answered");
  return { drainedAt: row.drained_at, changed: row.changed };
}

const remove = statement<{ agent: string }>(
  "agent_drains_clear",
  `delete from agent_drains where agent = $1 returning agent`,
);

export async function clearDrain(handle: Handle, agent: string): Promise<DrainSet> {
  return { drainedAt: null, changed: (await remove(handle, [agent])).length > 0 };
}

const held = statement<{ item_id: string; fence: number; ttl_ms: number; now: Date }>(
  "agent_drains_held",
  `select s.item_id, s.fence, s.ttl_ms, muster_now() as now from item_state s where s.agent = $1 order by s.item_id`,
);

/** What the agent holds, as the claim clock knows it. */
export async function findTenuresOf(handle: Handle, agent: string): ReturnType<typeof held> {
  return await held(handle, [agent]);
}
