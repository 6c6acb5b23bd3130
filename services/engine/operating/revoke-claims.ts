/**
 * `revoke_claims`: an operator ends tenures. Whoever held them is told by the fence: every
 * door refuses a session whose latest attempt was revoked, until it claims again.
 */
import { findHeld } from "../../../db/stores/claim-read-store.ts";
import { recordAudit } from "../../../db/stores/audit-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { RevokeClaimsInput, RevokeClaimsOutput } from "../../contract/operations/revoke-claims.ts";
import type { Role } from "../../core/roles.ts";
import { endTenure } from "../../core/tenure.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { scopeFilter } from "../scope/scope-filter.ts";
import { afterCommit, lockPart, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { type Answered, describeCall, once, type WriteCall } from "../writing/write-call.ts";
import { doToChosen, type FindFunc } from "./chosen.ts";
import type { Looker } from "../access.ts";

interface Revoked extends Readonly<Record<string, unknown>> {
  readonly itemId: string;
  readonly role: Role;
  /** That of the tenure which ended. */
  readonly fence: number;
  readonly requeued: boolean;
}

export async function revokeClaims(
  deps: EngineDeps,
  input: RevokeClaimsInput,
  caller: Caller,
): Promise<RevokeClaimsOutput> {
  const call = describeCall("revoke_claims", input, caller);
  const { answers, rest } = await doToChosen(
    deps,
    call,
    input,
    meantBy(input, caller),
    (itemId, element) => revokeOne(deps, call, itemId, element, input.reason),
    caller,
  );
  return { revoked: [...answers], ...rest };
}

function meantBy({ agent, ancestorId, lapsed }: RevokeClaimsInput, caller: Looker): FindFunc {
  return async (handle, max, ids) => {
    const within = ancestorId === undefined ? undefined : await requireItem(handle, ancestorId, caller);
    return await findHeld(handle, { ids, agent, lapsed, ancestorId: within, ...scopeFilter(caller) }, max);
  };
}

/** Ends one tenure, in a transaction of its own. */
async function revokeOne(
  deps: EngineDeps,
  call: WriteCall,
  itemId: string,
  element: string,
  reason: string,
): Promise<Answered<Revoked>> {
  let world: World | null = null;
  const answered = await transact(deps, async (tx, wider) => {
    world = null;
    return await once<Revoked>(call, tx, element, async () => {
      const done = await revoke(deps, tx, wider, call, itemId, reason);
      world = done.world;
      return { answer: done.answer, targetId: itemId };
    });
  });
  if (world !== null) afterCommit(deps, world);
  return answered;
}

async function revoke(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  call: WriteCall,
  itemId: string,
  reason: string,
): Promise<{ readonly answer: Revoked; readonly world: World }> {
  const moving = { items: new Set([itemId]), enters: false };
  const world = await lockPart(deps, tx, wider, { closing: [itemId] }, moving);
  const item = world.find(itemId);
  if (item === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
  const { claim, fence, rootId } = item;
  if (claim === null) throw fault("CONFLICT_ERROR", `nobody holds ${itemId}`, { hint: NOT_HELD });
  const { requeued } = endTenure(world, itemId, {
    reason: "revoked",
    requeue: true,
    detail: reason,
    by: call.author,
  });
  const data = { agent: claim.agent, fence, reason };
  await recordAudit(tx, [{ action: "claim.revoked", itemId, rootId, data }], call.author);
  await saveWorld(tx, world);
  return { answer: { itemId, role: world.get(itemId).role, fence, requeued }, world };
}

const NOT_HELD = "Nothing to do: list the claims to see who holds what.";
