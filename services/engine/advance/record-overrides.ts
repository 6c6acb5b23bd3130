/** What operators set aside is kept with who did it and why, whatever becomes of the item. */
import { recordAudit } from "../../../db/stores/audit-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { AdvanceVerdict } from "../../core/advance.ts";
import type { TransitionCall } from "./transition-call.ts";

type Decided = AdvanceVerdict | { readonly kind: "bad_note" } | null;

/** Overrides are rare and made one by one: each is written under its own author. */
export async function recordOverrides(
  tx: Handle,
  calls: readonly TransitionCall[],
  verdicts: readonly Decided[],
): Promise<void> {
  for (const [index, { request }] of calls.entries()) {
    const verdict = verdicts[index];
    if (request.override !== true || verdict?.kind !== "applied") continue;
    const { state, previousRole, setAside } = verdict;
    const { trigger, failure } = request;
    const data = { trigger, from: previousRole, to: state.role, setAside, reason: failure.reason };
    const entry = { action: "item.overridden", itemId: state.id, rootId: state.rootId, data } as const;
    await recordAudit(tx, [entry], request.by);
  }
}
