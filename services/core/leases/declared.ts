/** What a schema's resources mean for an item: what it has to have in work, and what it is said to have used. */
import type { Declared } from "./lease-book.ts";
import { LEASE_TTL_MS_DEFAULT, type Requirement } from "./lease.ts";

/** A resource as a schema declares it. */
export interface DeclaredResource {
  readonly key: string;
  readonly mode: "exclusive" | "shared" | "advisory";
  readonly ttlSeconds: number | null;
  readonly capacity: number;
}

const ORDER = { exclusive: 0, shared: 1, advisory: 2 } as const;

/**
 * Requirements come in the order of their keys, so that nobody locks them in another.
 *
 * @param enforced false: everything is recorded, and nothing is held against anybody
 */
export function declaredOf(resources: readonly DeclaredResource[], enforced: boolean): Declared {
  if (resources.length === 0) return NOTHING;
  const requirements = enforced ? resources.flatMap(requirementOf) : [];
  return {
    requirements: requirements.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    keys: resources.toSorted((a, b) => ORDER[a.mode] - ORDER[b.mode]).map(({ key }) => key),
  };
}

const NOTHING: Declared = { requirements: [], keys: [] };

function requirementOf({ key, mode, ttlSeconds, capacity }: DeclaredResource): Requirement[] {
  if (mode === "advisory") return [];
  const ttlMs = ttlSeconds === null ? LEASE_TTL_MS_DEFAULT : ttlSeconds * 1000;
  return [{ key, mode, capacity: mode === "shared" ? capacity : 1, ttlMs }];
}

/**
 * The first of the labels that an item may not name, or null. An item that declares nothing
 * may name anything; one that does may name what it declares.
 */
export function strangeCredential(
  credentials: readonly string[],
  declared: readonly string[],
): string | null {
  if (declared.length === 0) return null;
  return credentials.find((one) => !declared.includes(one)) ?? null;
}
