/** `list_agents`: the agents that were seen, when last, and what they hold. */
import { type AgentRow, type HoldRow, listSeen, readHolds } from "../../../db/stores/agent-read-store.ts";
import { countAttempts } from "../../../db/stores/attempt-read-store.ts";
import type {
  ListAgentsInput,
  ListAgentsOutput,
  ListedAgent,
} from "../../contract/operations/list-agents.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { shortSession } from "./short-session.ts";
import { inSnapshot } from "./snapshot.ts";

/** Held items shown per agent; the count beside them is exact. */
const HOLDS_SHOWN = 10;

export async function listAgents(
  deps: EngineDeps,
  input: ListAgentsInput,
  { access: { scope } }: Caller,
): Promise<ListAgentsOutput> {
  const { holding, drained, seenAfter, limit, offset } = input;
  return await inSnapshot(deps, async (handle) => {
    const { rows, total } = await listSeen(handle, { holding, drained, seenAfter, scope, limit, offset });
    const holders = rows.filter((row) => row.claims > 0).map((row) => row.agent);
    const holds = await readHolds(handle, holders, HOLDS_SHOWN, scope);
    const ends = await countAttempts(
      handle,
      rows.map((row) => row.agent),
      scope,
    );
    const agents = rows.map((row) => ({
      ...listedAgent(row, holds.get(row.agent) ?? []),
      attempts: ends.get(row.agent) ?? {},
    }));
    return { agents, total, hasMore: offset + rows.length < total, limit, offset };
  });
}

function listedAgent(row: AgentRow, holds: readonly HoldRow[]): ListedAgent {
  return {
    agent: row.agent,
    ...(row.kind === null ? {} : { kind: row.kind }),
    ...(row.parent_agent === null ? {} : { parent: row.parent_agent }),
    ...(row.session === null ? {} : { session: shortSession(row.session), sessions: row.sessions }),
    ...(row.capabilities.length === 0 ? {} : { capabilities: row.capabilities }),
    ...(row.first_seen_at === null ? {} : { firstSeenAt: row.first_seen_at.toISOString() }),
    lastSeenAt: row.last_seen_at.toISOString(),
    ...(row.drained_at === null ? {} : { drainedAt: row.drained_at.toISOString() }),
    ...(row.drain_reason === null ? {} : { drainReason: row.drain_reason }),
    claims: row.claims,
    ...(holds.length === 0 ? {} : { holds: holds.map(shownHold) }),
  };
}

function shownHold(row: HoldRow): NonNullable<ListedAgent["holds"]>[number] {
  return { itemId: row.item_id, title: row.title, claimExpiresAt: row.expires_at.toISOString() };
}
