/**
 * `get_context` with mode item: whether a start would succeed now, by the decision that `advance_item`
 * takes, and what stands in the way. The one place that names who holds an item.
 */
import { findLeasesOn, type LeaseOnKeyRow } from "../../../db/stores/context-board-store.ts";
import { type ItemRow, readItem } from "../../../db/stores/item-read-store.ts";
import { existingNoteKeys, filledNotes } from "../../../db/stores/note-store.ts";
import { toItemState } from "../../../db/stores/state-row.ts";
import type { ContextItem, ItemContextAnswer } from "../../contract/contexts.ts";
import { fault } from "../../contract/errors.ts";
import type { AskItem } from "../../contract/operations/get-context.ts";
import type { GetNextStatusOutput } from "../../contract/operations/get-next-status.ts";
import type { ItemSchema, NoteSpec } from "../../core/schemas/item-schema.ts";
import { phaseOf } from "../../core/schemas/note-progress.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { readPaths } from "../queries/ancestor-paths.ts";
import { fitPage } from "../queries/fit-page.ts";
import { getNextStatus } from "../queries/get-next-status.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { requireItem } from "../resolve-items.ts";

const SCHEMA_SIZE_MAX_BYTES = 26_000;
/** The titles above an item are as long as people write them. */
const PATH_SIZE_MAX_BYTES = 16_000;

export async function itemContext(
  deps: EngineDeps,
  input: AskItem,
  caller: Caller,
): Promise<ItemContextAnswer> {
  const scene = await inSnapshot(deps, async (handle) => {
    const id = await requireItem(handle, input.itemId, caller);
    const row = await readItem(handle, id);
    if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
    const schemas = await deps.schemas.load(handle, [row.root_id]);
    const schema = schemas.of(toItemState(row));
    const keys = schema.resources.map(({ key }) => key);
    return {
      row,
      schema,
      filled: (await filledNotes(handle, [id])).get(id) ?? new Map<string, unknown>(),
      existing: (await existingNoteKeys(handle, [id])).get(id) ?? new Set<string>(),
      leases: await findLeasesOn(handle, keys),
      ancestors: input.includeAncestors ? (await readPaths(handle, [row.ancestors]))(row.ancestors) : null,
    };
  });
  const { row, schema, filled, existing, leases, ancestors } = scene;
  const status = await getNextStatus(deps, { itemId: row.item_id, ...askerOf(input, row) }, caller);
  const phase = phaseOf({ role: row.role, previousRole: row.previous_role });
  const missing = schema.notes.filter(
    (note) => note.required && note.role === phase && !filled.has(note.key),
  );
  return {
    mode: "item",
    item: contextItem(row, ancestors === null ? null : fitPage(ancestors, PATH_SIZE_MAX_BYTES)),
    schema: fitPage(
      schema.notes.map(({ key, role, required }) => ({
        key,
        role,
        required,
        exists: existing.has(key),
        filled: filled.has(key),
      })),
      SCHEMA_SIZE_MAX_BYTES,
    ),
    gateStatus: gateOf(row, status, missing),
    ...pointersOf(missing),
    ...claimOf(row),
    ...leasesOf(schema, leases),
  };
}

/** Whoever does not say who asks is told what the item's holder would be: it is the one to go on. */
function askerOf(input: AskItem, row: ItemRow): { readonly agent?: string; readonly workerId?: string } {
  if (input.agent !== undefined)
    return { agent: input.agent, ...(input.workerId === undefined ? {} : { workerId: input.workerId }) };
  return row.agent === null || row.session === null ? {} : { agent: row.agent, workerId: row.session };
}

type Gate = ItemContextAnswer["gateStatus"];

const BLOCKED_BY: Readonly<Record<string, Gate["blockedBy"]>> = {
  dependency_blocked: "dependency",
  gate_blocked: "note",
  resource_unavailable: "lease",
  not_claim_holder: "claim",
  claim_lost: "claim",
};

function gateOf(row: ItemRow, status: GetNextStatusOutput, missing: readonly NoteSpec[]): Gate {
  const { recommendation, reason, suggestion, blockers } = status;
  const ready = recommendation === "Ready" && missing.length === 0;
  const blockedBy = recommendation === "Ready" ? "note" : (BLOCKED_BY[reason ?? ""] ?? "table");
  return {
    canAdvance: ready,
    phase: row.role,
    missing: missing.map(({ key }) => key),
    ...(ready ? {} : { blockedBy }),
    ...(ready || reason === undefined ? {} : { reason }),
    ...(ready || suggestion === undefined ? {} : { suggestion }),
    ...(ready || blockers === undefined ? {} : { blockers: fitPage(blockers, SCHEMA_SIZE_MAX_BYTES) }),
  };
}

function pointersOf(missing: readonly NoteSpec[]): Pick<ItemContextAnswer, "guidanceKey" | "skillPointer"> {
  const guided = missing.find((note) => note.guidance !== null);
  const skill = missing[0]?.skill ?? null;
  return {
    ...(guided === undefined ? {} : { guidanceKey: guided.key }),
    ...(skill === null ? {} : { skillPointer: skill }),
  };
}

function claimOf(row: ItemRow): Pick<ItemContextAnswer, "claimDetail"> {
  if (row.agent === null || row.expires_at === null) return {};
  const claimedAt = row.claimed_at ?? row.expires_at;
  return {
    claimDetail: {
      claimedBy: row.agent,
      claimedAt: claimedAt.toISOString(),
      claimExpiresAt: row.expires_at.toISOString(),
      originalClaimedAt: (row.original_claimed_at ?? claimedAt).toISOString(),
      isExpired: row.expires_at <= row.now,
    },
  };
}

/** Every resource that the item declares, with each item that has it now. */
function leasesOf(
  schema: ItemSchema,
  leases: readonly LeaseOnKeyRow[],
): Pick<ItemContextAnswer, "resourceLeases"> {
  if (schema.resources.length === 0) return {};
  return {
    resourceLeases: schema.resources.flatMap(
      ({ key, mode }): NonNullable<ItemContextAnswer["resourceLeases"]> => {
        const held = leases.filter((lease) => lease.key === key);
        if (held.length === 0) return [{ key, mode, held: false }];
        return held.map((lease) => ({
          key,
          mode,
          held: true,
          holderItemId: lease.item_id,
          ...(lease.acquired_by === null ? {} : { acquiredByActorId: lease.acquired_by }),
          expiresAt: lease.expires_at.toISOString(),
        }));
      },
    ),
  };
}

function contextItem(row: ItemRow, ancestors: ContextItem["ancestors"] | null): ContextItem {
  return {
    id: row.item_id,
    parentId: row.parent_id,
    title: row.title,
    role: row.role,
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    priority: row.priority,
    ...(row.complexity === null ? {} : { complexity: row.complexity }),
    ...(row.type === null ? {} : { type: row.type }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags.join(",") }),
    depth: row.depth,
    ...(row.dead ? { dead: true } : {}),
    roleChangedAt: row.role_changed_at.toISOString(),
    ...(ancestors === null ? {} : { ancestors }),
  };
}
