/** `drain_agent`: an agent finishes what it holds and takes nothing new, or may take items again. */
import { clearDrain, findTenuresOf, setDrain } from "../../../db/stores/agent-drain-store.ts";
import { recordAudit } from "../../../db/stores/audit-store.ts";
import type { DrainAgentInput, DrainAgentOutput } from "../../contract/operations/drain-agent.ts";
import type { EngineDeps } from "../deps.ts";
import { requireWholeSight } from "../access.ts";
import type { Caller } from "../engine.ts";
import { CLAIMABLE, transact } from "../writing/transact.ts";
import { describeCall, once } from "../writing/write-call.ts";
import { revokeClaims } from "./revoke-claims.ts";

interface Drained extends Readonly<Record<string, unknown>> {
  readonly changed: boolean;
  readonly drainedAt?: string;
}

export async function drainAgent(
  deps: EngineDeps,
  input: DrainAgentInput,
  caller: Caller,
): Promise<DrainAgentOutput> {
  const { agent, drained, reason } = input;
  // It would keep the agent from items that the caller must not touch.
  requireWholeSight(caller, "draining an agent");
  const call = describeCall("drain_agent", input, caller);
  const { answer, replayed } = await transact(deps, (tx) =>
    once<Drained>(call, tx, "all", async () => {
      const { changed, drainedAt } = drained
        ? await setDrain(tx, agent, reason, call.author)
        : await clearDrain(tx, agent);
      const action = drained ? "agent.drained" : "agent.undrained";
      if (changed) {
        await recordAudit(tx, [{ action, itemId: null, rootId: null, data: { agent, reason } }], call.author);
      }
      return {
        answer: { changed, ...(drainedAt === null ? {} : { drainedAt: drainedAt.toISOString() }) },
        targetId: null,
      };
    }),
  );
  const revokedItemIds = input.revokeClaims ? await revokeAll(deps, input, caller) : undefined;
  const claims = await tellHolder(deps, agent);
  // Claims of it that wait are refused now and not when their time is up; after a drain it looks again.
  deps.coordination.wakeUps.publish([CLAIMABLE]);
  return {
    agent,
    drained,
    ...answer,
    claims,
    ...(revokedItemIds === undefined ? {} : { revokedItemIds }),
    ...(replayed ? { replayed } : {}),
  };
}

async function revokeAll(deps: EngineDeps, input: DrainAgentInput, caller: Caller): Promise<string[]> {
  const { agent, reason, actor } = input;
  const { revoked } = await revokeClaims(
    deps,
    { agent, reason, actor, all: false, dryRun: false, requestId: undefined },
    caller,
  );
  return revoked.map((one) => one.itemId);
}

/**
 * A heartbeat hardly ever asks the database, and would not hear of it. The clock is told that
 * the database was last written long ago: so the next one does, and is answered from there.
 */
async function tellHolder(deps: EngineDeps, agent: string): Promise<number> {
  const tenures = await findTenuresOf(deps.db, agent);
  for (const { item_id: key, fence, ttl_ms: ttlMs, now } of tenures) {
    await deps.coordination.claimClock.touch([{ key, fence, ttlMs }], now.getTime() - ttlMs);
  }
  return tenures.length;
}
