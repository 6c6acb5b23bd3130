/**
 * `get_context` with mode session-resume and health-check: what is active, blocked and stalled.
 * Stalled is what nobody brings forward: its claim lapsed, nobody holds it, or notes are missing.
 */
import {
  type BoardRow,
  countClaims,
  findActive,
  findRecent,
  findStuck,
  type RecentRow,
} from "../../../db/stores/context-board-store.ts";
import { filledNotes } from "../../../db/stores/note-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type {
  ContextItem,
  HealthContext,
  RecentTransition,
  SessionContext,
  StalledItem,
} from "../../contract/contexts.ts";
import type { AskHealth, AskSession } from "../../contract/operations/get-context.ts";
import { phaseOf } from "../../core/schemas/note-progress.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { EngineDeps } from "../deps.ts";
import { readPaths } from "../queries/ancestor-paths.ts";
import { fitPage } from "../queries/fit-page.ts";
import { itemFacts } from "../queries/item-facts.ts";
import { requireItem } from "../resolve-items.ts";
import type { Looker } from "../access.ts";

const PER_ROLE = 200;
/** Three lists share an answer. */
const LIST_SIZE_MAX_BYTES = 20_000;
const SUMMARY_LENGTH_MAX = 200;

export async function sessionContext(
  deps: EngineDeps,
  handle: Handle,
  input: AskSession,
  caller: Looker,
): Promise<SessionContext> {
  const within = await boardOf(handle, input.ancestorId, caller);
  const board = await readBoard(deps, handle, within, input.includeAncestors);
  const rows = await findRecent(handle, within, input.since, input.limit);
  const recentTransitions = fitPage(rows.map(recentTransition), LIST_SIZE_MAX_BYTES);
  const truncated = board.truncated || recentTransitions.length < rows.length;
  return {
    mode: "session-resume",
    since: input.since.toISOString(),
    activeItems: board.activeItems,
    recentTransitions,
    stalledItems: board.stalledItems,
    ...(truncated ? { truncated } : {}),
  };
}

export async function healthContext(
  deps: EngineDeps,
  handle: Handle,
  input: AskHealth,
  caller: Looker,
): Promise<HealthContext> {
  const within = await boardOf(handle, input.ancestorId, caller);
  const board = await readBoard(deps, handle, within, input.includeAncestors);
  const stuck = await findStuck(handle, within, PER_ROLE + 1);
  const shown = await withPaths(handle, stuck.slice(0, PER_ROLE), input.includeAncestors);
  const blockedItems = fitPage(shown, LIST_SIZE_MAX_BYTES);
  const truncated = board.truncated || blockedItems.length < stuck.length;
  return {
    mode: "health-check",
    activeItems: board.activeItems,
    blockedItems,
    stalledItems: board.stalledItems,
    claimSummary: await countClaims(handle, within),
    ...(truncated ? { truncated } : {}),
  };
}

/** The subtrees that are meant: the one that was asked for, else all that the caller sees. */
async function boardOf(
  handle: Handle,
  ancestorId: string | undefined,
  caller: Looker,
): Promise<readonly string[] | null> {
  return ancestorId === undefined ? caller.access.scope : [await requireItem(handle, ancestorId, caller)];
}

interface Board {
  readonly activeItems: ContextItem[];
  readonly stalledItems: StalledItem[];
  readonly truncated: boolean;
}

async function readBoard(
  deps: EngineDeps,
  handle: Handle,
  within: readonly string[] | null,
  includeAncestors: boolean,
): Promise<Board> {
  const found = await findActive(handle, within, PER_ROLE + 1);
  const rows = (["work", "review"] as const).flatMap((role) =>
    found.filter((row) => row.role === role).slice(0, PER_ROLE),
  );
  const items = await withPaths(handle, rows, includeAncestors);
  const schemas = await deps.schemas.load(handle, new Set(rows.map((row) => row.root_id)));
  const filled = await filledNotes(
    handle,
    rows.map((row) => row.id),
  );
  const stalled = rows.flatMap((row, at): StalledItem[] => {
    const item = items[at];
    const phase = phaseOf({ role: row.role, previousRole: row.previous_role });
    if (item === undefined || phase === null) return [];
    const { notes } = schemas.of({ ...row, rootId: row.root_id });
    const keys = filled.get(row.id);
    const missing = notes.filter(
      (note) => note.required && note.role === phase && keys?.has(note.key) !== true,
    );
    const reason = reasonOf(row, missing.length);
    if (reason === null) return [];
    const guided = missing.find((note) => note.guidance !== null);
    return [
      {
        ...item,
        reason,
        missingNotes: missing.map(({ key }) => key),
        ...(guided === undefined ? {} : { guidanceKey: guided.key }),
      },
    ];
  });
  const activeItems = fitPage(items, LIST_SIZE_MAX_BYTES);
  const stalledItems = fitPage(stalled, LIST_SIZE_MAX_BYTES);
  const truncated =
    rows.length < found.length || activeItems.length < items.length || stalledItems.length < stalled.length;
  return { activeItems, stalledItems, truncated };
}

/** A container is carried by its children: nobody has to hold it. */
function reasonOf(row: BoardRow, missing: number): StalledItem["reason"] | null {
  if (row.lapsed) return "claim_lapsed";
  if (missing > 0) return "missing_notes";
  return row.role === "work" && !row.held && row.open_children === 0 ? "unclaimed" : null;
}

async function withPaths(
  handle: Handle,
  rows: readonly BoardRow[],
  includeAncestors: boolean,
): Promise<ContextItem[]> {
  const path = includeAncestors
    ? await readPaths(
        handle,
        rows.map((row) => row.ancestors),
      )
    : null;
  return rows.map((row) => ({
    id: row.id,
    ...itemFacts(row),
    roleChangedAt: row.role_changed_at.toISOString(),
    ...(path === null ? {} : { ancestors: path(row.ancestors) }),
  }));
}

function recentTransition(row: RecentRow): RecentTransition {
  return {
    itemId: row.item_id,
    title: row.title,
    fromRole: row.from_role,
    toRole: row.to_role,
    trigger: row.trigger,
    at: row.at.toISOString(),
    ...(row.agent === null ? {} : { actorId: row.agent }),
    ...(row.summary === null ? {} : { summary: clipText(row.summary, SUMMARY_LENGTH_MAX) }),
  };
}
