/** Operators look at roots whose environment is broken, and let their items be claimed again. */
import { recordAudit } from "../../../db/stores/audit-store.ts";
import { type BreakerRow, closeBreaker, listBreakers as listRows } from "../../../db/stores/breaker-store.ts";
import { LIST_LIMIT_MAX } from "../../contract/limits.ts";
import type {
  ListBreakersInput,
  ListBreakersOutput,
  ListedBreaker,
} from "../../contract/operations/list-breakers.ts";
import type { ResetBreakerInput, ResetBreakerOutput } from "../../contract/operations/reset-breaker.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { CLAIMABLE, transact } from "../writing/transact.ts";
import { describeCall, once } from "../writing/write-call.ts";

export async function listBreakers(
  deps: EngineDeps,
  _input: ListBreakersInput,
  { access }: Caller,
): Promise<ListBreakersOutput> {
  const rows = await listRows(deps.db, LIST_LIMIT_MAX + 1);
  // A root is seen by who may see the whole of it.
  const seen = rows.filter((row) => access.scope === null || access.scope.includes(row.root_id));
  return { breakers: seen.slice(0, LIST_LIMIT_MAX).map(listed), hasMore: rows.length > LIST_LIMIT_MAX };
}

function listed(row: BreakerRow): ListedBreaker {
  return {
    rootId: row.root_id,
    title: row.title,
    openedAt: row.opened_at.toISOString(),
    failures: row.failures,
    ends: row.ends,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.probe_item === null ? { probeAt: row.probe_at.toISOString() } : { probeItemId: row.probe_item }),
    failedProbes: row.probes,
  };
}

export async function resetBreaker(
  deps: EngineDeps,
  input: ResetBreakerInput,
  caller: Caller,
): Promise<ResetBreakerOutput> {
  const { rootId, reason } = input;
  const { scope } = caller.access;
  const isSeen = scope === null || scope.includes(rootId);
  const call = describeCall("reset_breaker", input, caller);
  const { answer, replayed } = await transact(deps, (tx) =>
    once<{ readonly changed: boolean }>(call, tx, "all", async () => {
      const changed = isSeen && (await closeBreaker(tx, rootId, null, "operator"));
      if (changed) {
        const entry = { action: "breaker.reset" as const, itemId: null, rootId, data: { reason } };
        await recordAudit(tx, [entry], call.author);
      }
      return { answer: { changed }, targetId: null };
    }),
  );
  if (answer.changed) deps.coordination.wakeUps.publish([CLAIMABLE]);
  return { rootId, changed: answer.changed, ...(replayed ? { replayed } : {}) };
}
