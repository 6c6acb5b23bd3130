/**
 * `get_next_item`: what a claim with the same selector would be offered, by the very
 * statement that claims choose with. Reserves nothing. Reminders that have fired come first,
 * whoever holds their items: they ask to be acknowledged, and not to be claimed.
 *
 * The caller's own claim is shown to the caller alone: it is what to go on with, and
 * leaving it out would send a worker that came back to something else.
 */
import { type HeadRow, readHeads } from "../../../db/stores/item-read-store.ts";
import {
  type CandidateQuery,
  RANKED_ORDERS,
  selectCandidates,
  selectHeld,
} from "../../../db/stores/next-store.ts";
import { type Emptiness, findEmptiness } from "../../../db/stores/emptiness-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type {
  GetNextItemInput,
  GetNextItemOutput,
  Recommendation,
} from "../../contract/operations/get-next-item.ts";
import { defaultRoles } from "../../core/readiness.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { readPaths } from "./ancestor-paths.ts";
import { fitPage } from "./fit-page.ts";
import { readPending } from "./pending-reminders.ts";
import { reasonFor } from "./next-reason.ts";
import { resolveFilter } from "./resolve-filter.ts";
import { inSnapshot } from "./snapshot.ts";

export async function getNextItem(
  deps: EngineDeps,
  input: GetNextItemInput,
  caller: Caller,
): Promise<GetNextItemOutput> {
  return await inSnapshot(deps, async (handle) => {
    const query: CandidateQuery = {
      filter: await resolveFilter(handle, input, caller),
      asker: { agent: input.agent ?? null, capabilities: input.capabilities ?? [] },
      roles: input.role ?? defaultRoles(false),
      // Naming a type is asking for that type, containers included.
      containers: input.containers || input.type !== undefined,
      startable: input.startable,
      ranking: input.orderBy,
      limit: input.limit,
    };
    const holder = holderOf(deps, input, caller);
    const due = await readPending(handle, query, caller);
    const reminded = new Set(due.map(({ head }) => head.item_id));
    const heads = (await recommend(handle, query, input, holder))
      .filter((head) => !reminded.has(head.item_id))
      .slice(0, input.limit - due.length);
    if (heads.length === 0 && due.length === 0)
      return { recommendations: [], total: 0, ...whyNothing(await findEmptiness(handle, query)) };
    const path = input.includeAncestors
      ? await readPaths(
          handle,
          [...due.map(({ head }) => head), ...heads].map((head) => head.ancestors),
        )
      : null;
    // Nobody pages through recommendations: what does not fit is less urgent than what does.
    const recommendations = fitPage([
      ...due.map(({ head, reminder }) => ({
        ...recommendation(head, input),
        ...reminder,
        reason: `reminder since ${reminder.firedAt}: acknowledge it with manage_reminders`,
        ...(path === null ? {} : { ancestors: path(head.ancestors) }),
      })),
      ...heads.map((head) => ({
        ...recommendation(head, input),
        reason: reasonFor(head, {
          mine: isHolder(holder, head),
          assigned: head.assignee !== null && head.assignee === input.agent,
          ranking: query.ranking,
        }),
        ...(path === null ? {} : { ancestors: path(head.ancestors) }),
      })),
    ]);
    return { recommendations, total: recommendations.length };
  });
}

async function recommend(
  handle: Handle,
  query: CandidateQuery,
  input: GetNextItemInput,
  holder: AskingHolder | null,
): Promise<HeadRow[]> {
  const free = await selectCandidates(handle, query);
  const held =
    input.includeClaimed || holder !== null
      ? await selectHeld(handle, { ...query, holder: input.includeClaimed ? null : holder })
      : [];
  const heads = await readHeads(handle, [...free, ...held]);
  const inOrder = [...free, ...held].flatMap((id) => heads.get(id) ?? []);
  if (held.length === 0 || query.ranking === "fair") return inOrder.slice(0, query.limit);
  const preference = (head: HeadRow): number => query.roles.indexOf(head.role);
  const order = RANKED_ORDERS[query.ranking];
  return inOrder.toSorted((a, b) => preference(a) - preference(b) || order(a, b)).slice(0, query.limit);
}

interface AskingHolder {
  readonly agent: string;
  /** Null where the name alone is the holder. */
  readonly session: string | null;
}

function isHolder(holder: AskingHolder | null, head: HeadRow): boolean {
  if (holder === null || head.agent !== holder.agent) return false;
  return holder.session === null || head.session === holder.session;
}

/** Who asks, if that is certain: where sessions tell holders apart, a name alone may be another worker's. */
function holderOf(deps: EngineDeps, input: GetNextItemInput, caller: Caller): AskingHolder | null {
  if (input.agent === undefined) return null;
  if (deps.settings.identity === "actor") return { agent: input.agent, session: null };
  const session = input.workerId ?? caller.session;
  return session === null ? null : { agent: input.agent, session };
}

function recommendation(
  head: HeadRow,
  { includeDetails, includeClaimed }: GetNextItemInput,
): Omit<Recommendation, "reason"> {
  return {
    itemId: head.item_id,
    title: head.title,
    role: head.role,
    priority: head.priority,
    ...(head.complexity === null ? {} : { complexity: head.complexity }),
    ...(includeClaimed || head.held ? { isClaimed: head.held } : {}),
    ...(includeDetails
      ? { summary: head.summary, tags: head.tags.join(",") || null, parentId: head.parent_id }
      : {}),
  };
}

function pausedOf({ paused, pausedRoots }: Emptiness): { paused?: number; pausedRoots?: number } {
  return pausedRoots === 0 ? {} : { paused, pausedRoots };
}

function whyNothing(why: Emptiness): Pick<GetNextItemOutput, "excluded" | "nextAt"> {
  if (why.matching === 0) return {};
  const {
    claimed,
    ancestorClaimed,
    dependencyBlocked,
    waiting,
    capabilities,
    assignee,
    containers,
    resources,
  } = why;
  const counts = { claimed, ancestorClaimed, dependencyBlocked, waiting, capabilities, assignee, containers };
  return {
    excluded: {
      ...counts,
      ...(why.independence === 0 ? {} : { independence: why.independence }),
      resources,
      ...pausedOf(why),
    },
    ...(why.nextAt === null ? {} : { nextAt: new Date(why.nextAt).toISOString() }),
  };
}
