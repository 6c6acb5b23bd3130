/** Small worlds for tests of decisions: items by a few words, everything else as a new item has it. */
import type { Edge } from "../../../services/core/edges.ts";
import { type Claim, DEFAULT_POLICY, type ItemPolicy, type ItemState } from "../../../services/core/state.ts";
import { World } from "../../../services/core/world.ts";

export const NOW = 1_800_000_000_000;

export function item(id: string, state: Partial<ItemState> = {}): ItemState {
  return {
    id,
    rootId: state.ancestors?.[0] ?? id,
    parentId: state.ancestors?.at(-1) ?? null,
    ancestors: [],
    role: "queue",
    previousRole: null,
    outcome: null,
    statusLabel: null,
    blockers: 0,
    ancestorBlockers: 0,
    openChildren: 0,
    doneChildren: 0,
    closeWithheld: false,
    availableAt: null,
    attempts: 0,
    dead: false,
    startGateOpen: true,
    claim: null,
    fence: 0,
    priority: "medium",
    complexity: null,
    createdAt: NOW,
    type: null,
    tags: [],
    traits: [],
    needs: [],
    assignee: null,
    leased: [],
    lostLeases: [],
    reviewRounds: 0,
    reviewExcludes: [],
    ...state,
  };
}

/** A claim of ann's, made now for a minute. */
export function claimOf(claim: Partial<Claim> = {}): Claim {
  const claimedAt = claim.claimedAt ?? NOW;
  const ttlMs = claim.ttlMs ?? 60_000;
  return {
    agent: "ann",
    session: "ann-1",
    claimedAt,
    originalClaimedAt: claimedAt,
    expiresAt: claimedAt + ttlMs,
    ttlMs,
    ...claim,
  };
}

export interface WorldOf {
  readonly states: readonly ItemState[];
  readonly edges?: readonly Edge[];
  readonly now?: number;
  readonly policy?: Partial<ItemPolicy>;
}

/** A world in which everything is locked. */
export function worldOf({ states, edges = [], now = NOW, policy = {} }: WorldOf): World {
  return new World({
    now,
    states,
    edges,
    subtrees: states.map((state) => state.id),
    policyOf: () => ({ ...DEFAULT_POLICY, ...policy }),
  });
}
