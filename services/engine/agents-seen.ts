/**
 * Remembers who was heard of, and writes it down every few seconds in one statement: a
 * claim must not pay for a row that only operators look at.
 */
import { type SeenAgent, saveSeen } from "../../db/stores/agent-seen-store.ts";
import type { EngineDeps } from "./deps.ts";
import type { Caller } from "./engine.ts";
import type { Identified } from "./identity.ts";

const FLUSH_MS = 2_000;
const PENDING_MAX = 10_000;

export interface AgentsSeen {
  saw(who: Identified, kind: string, capabilities: readonly string[], caller: Caller): void;
  close(): Promise<void>;
}

export function createAgentsSeen(deps: EngineDeps): AgentsSeen {
  let pending = new Map<string, SeenAgent>();
  let flushing: Promise<void> = Promise.resolve();

  const flush = (): void => {
    if (pending.size === 0) return;
    const batch = [...pending.values()];
    pending = new Map();
    flushing = flushing
      .then(() => saveSeen(deps.db, batch))
      .catch((error: unknown) => deps.log.warn({ err: error }, "agents seen not written"));
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();

  return {
    saw(who, kind, capabilities, caller) {
      if (who.agent === null || who.session === null || pending.size >= PENDING_MAX) return;
      pending.set(`${who.agent}\u0001${who.session}`, {
        agent: who.agent,
        session: who.session,
        kind,
        parentAgent: who.parentAgent,
        client: caller.client,
        capabilities: [...capabilities],
      });
    },
    async close() {
      clearInterval(timer);
      flush();
      await flushing;
    },
  };
}
