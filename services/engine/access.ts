/**
 * What a caller may do and see. A door makes it out of a credential; the engine asks it, so
 * that no door can forget to.
 */
import { fault } from "../contract/errors.ts";
import type { Capability } from "../contract/operation.ts";

export interface Access {
  /** What it was granted. `admin` holds every other. */
  readonly capabilities: ReadonlySet<Capability>;
  /** Ids of the items whose subtrees it sees, themselves included; null: everything. Empty: nothing. */
  readonly scope: readonly string[] | null;
  /** The only agent that it may speak for; null: any. */
  readonly agent: string | null;
}

/** The user of this machine while the door is closed to all others, and Muster itself. */
export const FULL_ACCESS: Access = Object.freeze({
  capabilities: new Set<Capability>(["admin"]),
  scope: null,
  agent: null,
});

export function isGranted({ capabilities }: Access, capability: Capability): boolean {
  return capabilities.has(capability) || capabilities.has("admin");
}

/** @throws MusterError `insufficient_scope`, which names the scope that is missing. */
export function requireCapability(access: Access, capability: Capability, operation: string): void {
  if (isGranted(access, capability)) return;
  const scope = `muster:${capability}`;
  throw fault("insufficient_scope", `${operation} needs the scope ${scope}`, {
    details: { required: [scope] },
  });
}
