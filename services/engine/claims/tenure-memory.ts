/**
 * What this process knows of live tenures, so that a heartbeat is answered from the claim
 * clock alone. Everything here was read under the fence it is kept with; a tenure that is
 * not here, or has another fence, simply costs a database call. Bounded: the least lately
 * used entry goes first.
 */
export interface RememberedTenure {
  readonly fence: number;
  readonly agent: string;
  readonly ttlMs: number;
  readonly originalClaimedAt: number;
  /** When the item's content or role had last changed; null if that was not read. */
  readonly modifiedAt: number | null;
  /** Its agent is to take nothing new. */
  readonly drained: boolean;
}

export interface TenureMemory {
  find(itemId: string): RememberedTenure | undefined;
  remember(itemId: string, tenure: RememberedTenure): void;
  forget(itemId: string): void;
}

export function createTenureMemory(capacity = 50_000): TenureMemory {
  const entries = new Map<string, RememberedTenure>();
  return {
    find(itemId) {
      const entry = entries.get(itemId);
      if (entry === undefined) return undefined;
      entries.delete(itemId);
      entries.set(itemId, entry);
      return entry;
    },
    remember(itemId, tenure) {
      entries.delete(itemId);
      entries.set(itemId, tenure);
      if (entries.size <= capacity) return;
      const oldest = entries.keys().next().value;
      if (oldest !== undefined) entries.delete(oldest);
    },
    forget(itemId) {
      entries.delete(itemId);
    },
  };
}
