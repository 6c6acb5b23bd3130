/**
 * What a caller may do and see. A door makes it out of a credential; the engine asks it, so
 * that no door can forget to.
 */
import { fault, type MusterError } from "../contract/errors.ts";
import { capabilitiesNeeded, type Capability, type Operation } from "../contract/operation.ts";

export interface Access {
  /** What it was granted. `admin` holds every other. */
  readonly capabilities: ReadonlySet<Capability>;
  /** Ids of the items whose subtrees it sees, themselves included; null: everything. Empty: nothing. */
  readonly scope: readonly string[] | null;
  /** The only agent that it may speak for; null: any. */
  readonly agent: string | null;
}

/** Whoever looks something up: look-ups take it, so that none can forget whom it is for. */
export interface Looker {
  readonly access: Pick<Access, "scope">;
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

/** What the call needs and the access was not granted. */
export function missingCapabilities(access: Access, needed: readonly Capability[]): Capability[] {
  return needed.filter((one) => !isGranted(access, one));
}

/** @throws MusterError `insufficient_scope`, which names the scopes that are missing. */
export function requireCapabilities(access: Access, operation: Operation, input: unknown): void {
  requireAll(access, capabilitiesNeeded(operation, input), operation.name);
}

/** @throws MusterError `insufficient_scope`, as above. `what` is what cannot be done without them. */
export function requireAll(access: Access, needed: readonly Capability[], what: string): void {
  const missing = missingCapabilities(access, needed);
  if (missing.length === 0) return;
  const scopes = missing.map(scopeOf);
  throw fault("insufficient_scope", `${what} needs the scope ${scopes.join(" and ")}`, {
    details: { required: scopes },
  });
}

/**
 * For what has no place in a tree and so concerns everybody.
 * @throws MusterError `insufficient_capability` for a caller who sees only some subtrees.
 */
export function requireWholeSight({ access: { scope } }: Looker, what: string): void {
  const refusal = beyondScope(scope, what);
  if (refusal !== null) throw refusal;
}

/** The same as a value. */
export function beyondScope(scope: Access["scope"], what: string): MusterError | null {
  return scope === null
    ? null
    : fault("insufficient_capability", `${what} needs a credential that is bound to no item`);
}

/** A capability as OAuth calls it. */
export function scopeOf(capability: Capability): string {
  return `muster:${capability}`;
}
