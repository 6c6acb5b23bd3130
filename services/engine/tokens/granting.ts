/**
 * Nobody hands on more than they have: what a new token may do and see lies within what its
 * maker may do and see. Without it, whoever may make tokens could make one that may do all.
 */
import type { Capability } from "../../contract/operation.ts";
import { type Access, isGranted } from "../access.ts";

export interface Grant {
  readonly capabilities: readonly Capability[];
  /** Items whose subtrees it sees; null: everything. */
  readonly scope: readonly string[] | null;
  readonly agent: string | null;
}

export type GrantRefusal =
  | { readonly kind: "capability"; readonly capability: Capability }
  | { readonly kind: "scope"; readonly itemId: string | null }
  | { readonly kind: "agent" };

/** `trails`: each item of the grant's scope with itself and everything above it. */
export function judgeGrant(
  maker: Access,
  grant: Grant,
  trails: ReadonlyMap<string, readonly string[]>,
): GrantRefusal | null {
  const missing = grant.capabilities.find((one) => !isGranted(maker, one));
  if (missing !== undefined) return { kind: "capability", capability: missing };
  if (!isWithin(maker.scope, grant.scope, trails)) {
    const outside = grant.scope?.find((id) => !isWithin(maker.scope, [id], trails));
    return { kind: "scope", itemId: outside ?? null };
  }
  return maker.agent !== null && grant.agent !== maker.agent ? { kind: "agent" } : null;
}

/** Whether everything that one scope shows lies in the other. An item that is gone shows nothing. */
export function isWithin(
  outer: readonly string[] | null,
  inner: readonly string[] | null,
  trails: ReadonlyMap<string, readonly string[]>,
): boolean {
  if (outer === null) return true;
  if (inner === null) return false;
  return inner.every((id) => (trails.get(id) ?? [id]).some((above) => outer.includes(above)));
}
