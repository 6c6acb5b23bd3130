/**
 * A world of named items for decisions: everything is locked, and the counters are worked
 * out from roles and edges, so that a test cannot describe books that do not balance.
 */
import {
  decideAdvance,
  type AdvanceApplied,
  type AdvanceRequest,
  type AdvanceVerdict,
} from "../../../services/core/advance.ts";
import { type Edge, isSatisfied } from "../../../services/core/edges.ts";
import type { Trigger } from "../../../services/core/roles.ts";
import { type Claim, DEFAULT_POLICY, type ItemPolicy, type ItemState } from "../../../services/core/state.ts";
import type { WriterContext } from "../../../services/core/writer.ts";
import { World } from "../../../services/core/world.ts";

export const NOW = 1_000_000;

export interface ItemSpec extends Partial<Omit<ItemState, "id" | "claim">> {
  readonly under?: string;
  readonly claim?: Partial<Claim> & { readonly agent: string };
}

export interface EdgeSpec {
  readonly from: string;
  readonly to: string;
  readonly threshold?: Edge["threshold"];
  readonly onCancelled?: Edge["onCancelled"];
}

/** Parents before children. `type` names the policy. */
export function worldOf(
  items: Readonly<Record<string, ItemSpec>>,
  edges: readonly EdgeSpec[] = [],
  policies: Readonly<Record<string, Partial<ItemPolicy>>> = {},
): World {
  const states = new Map<string, ItemState>();
  for (const [id, spec] of Object.entries(items)) states.set(id, stateOf(id, spec, states));
  const parents = new Set([...states.values()].map((state) => state.parentId));
  const full = edges.map((edge): Edge => ({
    id: `${edge.from}>${edge.to}`,
    threshold: "terminal",
    onCancelled: "hold",
    ...edge,
    toHasChildren: parents.has(edge.to),
  }));
  return new World({
    now: NOW,
    states: booked(states, full).values(),
    edges: full,
    subtrees: states.keys(),
    policyOf: ({ type }) => ({ ...DEFAULT_POLICY, ...(type === null ? {} : policies[type]) }),
  });
}

function stateOf(id: string, spec: ItemSpec, states: ReadonlyMap<string, ItemState>): ItemState {
  const { under, claim, ...rest } = spec;
  const parent = under === undefined ? null : states.get(under);
  if (parent === undefined) throw new Error(`${under} is named before it is described`);
  const role = spec.role ?? "queue";
  return {
    id,
    rootId: parent?.rootId ?? id,
    parentId: parent?.id ?? null,
    ancestors: parent ? [...parent.ancestors, parent.id] : [],
    role,
    previousRole: role === "blocked" ? "queue" : null,
    outcome: role === "terminal" ? "done" : null,
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
    fence: claim === undefined ? 0 : 1,
    priority: "medium",
    complexity: null,
    createdAt: 0,
    type: null,
    tags: [],
    traits: [],
    needs: [],
    assignee: null,
    leased: [],
    lostLeases: [],
    reviewRounds: 0,
    reviewExcludes: [],
    ...rest,
    claim:
      claim === undefined
        ? null
        : {
            session: `${claim.agent}-1`,
            claimedAt: 0,
            originalClaimedAt: 0,
            expiresAt: NOW + 60_000,
            ttlMs: 60_000,
            ...claim,
          },
  };
}

/** The counters that the roles and edges call for. */
function booked(states: ReadonlyMap<string, ItemState>, edges: readonly Edge[]): Map<string, ItemState> {
  const blockersOf = (id: string): number =>
    edges.filter((edge) => edge.to === id && !isSatisfied(edge, states.get(edge.from) as ItemState)).length;
  return new Map(
    [...states.values()].map((state) => {
      const children = [...states.values()].filter((child) => child.parentId === state.id);
      const counted: ItemState = {
        ...state,
        blockers: blockersOf(state.id),
        ancestorBlockers: state.ancestors.filter((id) => blockersOf(id) > 0).length,
        openChildren: children.filter((child) => child.role !== "terminal").length,
        doneChildren: children.filter((child) => child.outcome === "done").length,
      };
      return [state.id, counted];
    }),
  );
}

/** Items whose counters are not what roles and edges call for. Empty: the books balance. */
export function unbalanced(world: World, ids: Iterable<string>): string[] {
  const states = new Map([...ids].map((id) => [id, world.get(id)]));
  const edges = [...states.keys()].flatMap((id) => world.edgesFrom(id));
  const right = booked(states, edges);
  return [...states.values()]
    .filter((state) => JSON.stringify(state) !== JSON.stringify(right.get(state.id)))
    .map((state) => state.id);
}

export interface TriggerOptions extends Partial<Omit<AdvanceRequest, "itemId" | "trigger" | "writer">> {
  readonly agent?: string;
  readonly session?: string;
  readonly fence?: number;
  readonly context?: Partial<WriterContext>;
}

/** Decides one transition; the caller is nobody in particular unless it says so. */
export function decide(
  world: World,
  itemId: string,
  trigger: Trigger,
  options: TriggerOptions = {},
): AdvanceVerdict {
  const { agent, session, fence, context, ...rest } = options;
  const writer = {
    agent: agent ?? null,
    session: agent === undefined ? null : (session ?? `${agent}-1`),
    fence: fence ?? null,
  };
  const request: AdvanceRequest = {
    itemId,
    trigger,
    summary: null,
    label: null,
    writer,
    by: { agent: writer.agent, session: writer.session, actor: null, verification: null },
    failure: { class: "item", reason: null },
    operator: false,
    random: 0,
    ...rest,
  };
  return decideAdvance(world, request, {
    now: NOW,
    seenDead: false,
    latestEnd: null,
    identity: "session",
    ...context,
  });
}

/** As {@link decide}, for transitions that must apply. */
export function apply(
  world: World,
  itemId: string,
  trigger: Trigger,
  options: TriggerOptions = {},
): AdvanceApplied {
  const verdict = decide(world, itemId, trigger, options);
  if (verdict.kind === "refused")
    throw new Error(`${trigger} ${itemId} was refused: ${JSON.stringify(verdict.refusal)}`);
  return verdict;
}

/** The code of the refusal, or null. */
export function refusalOf(
  world: World,
  itemId: string,
  trigger: Trigger,
  options: TriggerOptions = {},
): string | null {
  const verdict = decide(world, itemId, trigger, options);
  return verdict.kind === "refused" ? verdict.refusal.code : null;
}

/** Who is in which role, for short expectations. */
export function rolesOf(world: World, ...ids: readonly string[]): string {
  return ids.map((id) => `${id}:${world.get(id).role}`).join(" ");
}
