/**
 * The SQL twin of `services/core/readiness.ts`, and the filters of selectors. Every list,
 * recommendation and claim is built from these conditions and no others, so that they
 * cannot disagree.
 *
 * Conditions are text with numbered parameters; equal selectors give equal text, so
 * that the claim path's statements stay prepared.
 */
import type { Role } from "../../services/core/roles.ts";

export interface SelectorFilter {
  readonly parentId?: string | undefined;
  /** The item itself and everything below it. */
  readonly ancestorId?: string | undefined;
  readonly rootId?: string | undefined;
  /** Only these items and what is below them: what the caller sees. Undefined: everything; empty: nothing. */
  readonly scope?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly priority?: string | undefined;
  readonly type?: string | undefined;
  readonly complexityMax?: number | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly modifiedAfter?: Date | undefined;
  readonly modifiedBefore?: Date | undefined;
  readonly roleChangedAfter?: Date | undefined;
  readonly roleChangedBefore?: Date | undefined;
}

export interface SelectorAsker {
  readonly agent: string | null;
  readonly capabilities: readonly string[];
}

/** Collects parameters and hands out their placeholders. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown, cast = ""): string {
    this.values.push(value);
    return `$${this.values.length}${cast}`;
  }
}

/** What the partial indexes hold: true of the row whoever asks. Must match their predicates word for word. */
export function claimableRow(role: Role, containers: boolean): string {
  const children = containers ? "" : " and s.open_children = 0";
  return `s.role = '${role}' and s.agent is null and s.blockers = 0 and s.ancestor_blockers = 0${children}`;
}

/** What depends on the caller and on the time. */
export function offeredTo(asker: SelectorAsker, startable: boolean, parameters: Parameters): string {
  const agent = parameters.add(asker.agent, "::text");
  const capabilities = parameters.add(asker.capabilities, "::text[]");
  return [
    `(s.available_at is null or s.available_at <= muster_now())`,
    `not s.dead`,
    // Nearly all items need nothing, which the planner knows of equality and cannot guess of containment.
    `(s.needs = '{}' or s.needs <@ ${capabilities})`,
    `(s.assignee is null or s.assignee = ${agent})`,
    // Last of the cheap ones: almost no row says anything here.
    `(s.review_excludes is null or s.role <> 'review' or (${agent} = any(s.review_excludes)) is not true)`,
    // Nobody's in particular: in a root whose environment is broken.
    `not (s.root_id = any((select muster_paused_roots())::uuid[]))`,
    ...(startable ? [`(s.role <> 'queue' or s.start_gate_open)`] : []),
    // Work that nobody holds goes on with what it needs, or not at all.
    `(s.resources is null${startable ? "" : " or s.role <> 'work'"} or muster_resources_free(s.item_id, s.resources))`,
    `not exists (select 1 from item_state a where a.item_id = any(s.ancestors)
       and a.agent is not null and a.agent is distinct from ${agent})`,
  ].join(" and ");
}

/** Condition on an item by its id and its ancestors. */
export function inScope(
  id: string,
  ancestors: string,
  scope: readonly string[],
  parameters: Parameters,
): string {
  const tops = parameters.add(scope, "::uuid[]");
  return `(${id} = any(${tops}) or ${ancestors} && ${tops})`;
}

/** Condition on a record of an item that may be gone: then only its root is known. */
export function recordInScope(
  item: string,
  root: string,
  scope: readonly string[],
  parameters: Parameters,
): string {
  const tops = parameters.add(scope, "::uuid[]");
  return `(exists (select 1 from item_state v where v.item_id = ${item} and (v.item_id = any(${tops}) or v.ancestors && ${tops}))
    or ${root} = any(${tops}) and not exists (select 1 from item_state v where v.item_id = ${item}))`;
}

/** The caller's own filters; `true` when there are none. */
export function matchesFilter(filter: SelectorFilter, parameters: Parameters): string {
  const conditions: string[] = [];
  const compare = (column: string, operator: string, value: unknown, cast: string): void => {
    if (value !== undefined) conditions.push(`s.${column} ${operator} ${parameters.add(value, cast)}`);
  };
  compare("parent_id", "=", filter.parentId, "::uuid");
  compare("root_id", "=", filter.rootId, "::uuid");
  if (filter.ancestorId !== undefined) {
    const id = parameters.add(filter.ancestorId, "::uuid");
    conditions.push(`(s.item_id = ${id} or ${id} = any(s.ancestors))`);
  }
  if (filter.scope !== undefined)
    conditions.push(inScope("s.item_id", "s.ancestors", filter.scope, parameters));
  if (filter.tags !== undefined && filter.tags.length > 0) {
    conditions.push(`s.tags && ${parameters.add(filter.tags, "::text[]")}`);
  }
  compare("priority", "=", filter.priority, "::text");
  compare("type", "=", filter.type, "::text");
  compare("complexity", "<=", filter.complexityMax, "::int");
  for (const [name, column] of WINDOWS) {
    compare(column, ">", filter[`${name}After`], "::timestamptz");
    compare(column, "<", filter[`${name}Before`], "::timestamptz");
  }
  return conditions.length === 0 ? "true" : conditions.join(" and ");
}

const WINDOWS = [
  ["created", "created_at"],
  ["modified", "modified_at"],
  ["roleChanged", "role_changed_at"],
] as const;

/** True if the filter can exclude rows of the ranked index, so that a walk along it may be long. */
export function narrows(filter: SelectorFilter): boolean {
  // An empty list of tags asks for nothing; an empty scope sees nothing.
  if (filter.scope !== undefined) return true;
  return Object.values(filter).some(
    (value) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
}

/** `order by` of each ranking, ties broken so that the order is total. */
export const RANKINGS = {
  priority: "s.rank, s.created_at, s.item_id",
  oldest: "s.created_at, s.item_id",
  newest: "s.created_at desc, s.item_id desc",
  fair: "s.rank, s.created_at, s.item_id",
} as const;

export type Ranking = keyof typeof RANKINGS;
