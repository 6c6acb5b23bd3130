/**
 * The brief of an item: three statements, and one more for a configuration that this process
 * has not read yet. Nothing is asked about the claim: a brief comes with one, or before one.
 */
import { readBriefRow, type BriefRow } from "../../../db/stores/context-brief-store.ts";
import { listNotes, type ListedNoteRow } from "../../../db/stores/note-read-store.ts";
import { toItemState } from "../../../db/stores/state-row.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Brief } from "../../contract/briefs.ts";
import { fault } from "../../contract/errors.ts";
import { BRIEF_SIZE_DEFAULT_BYTES, LIST_LIMIT_MAX } from "../../contract/limits.ts";
import { isSatisfied } from "../../core/edges.ts";
import { phaseOf } from "../../core/schemas/note-progress.ts";
import type { ItemSchema } from "../../core/schemas/item-schema.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { EngineDeps } from "../deps.ts";
import { addressee } from "../reminders/reminder-answers.ts";
import { type BriefPart, clipBytes, fitBrief } from "./fit-brief.ts";

const GUIDANCE_LENGTH_MAX = 4_000;

export async function readBrief(
  deps: EngineDeps,
  handle: Handle,
  itemId: string,
  budget = BRIEF_SIZE_DEFAULT_BYTES,
): Promise<Brief> {
  const row = await readBriefRow(handle, itemId);
  if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
  // No body is read that the budget has no room for.
  const notes = await listNotes(handle, itemId, {
    bodiesLengthMax: budget,
    limit: LIST_LIMIT_MAX,
    offset: 0,
  });
  const schemas = await deps.schemas.load(handle, [row.root_id]);
  const schema = schemas.of(toItemState(row));
  return fitBrief(
    toItem(row),
    {
      reminders: {
        entries: row.reminders.map((one) => ({
          reminderId: one.id,
          ...addressee(one),
          firedAt: new Date(one.fired_at).toISOString(),
        })),
        fetch: `manage_reminders list itemId=${itemId} state=fired`,
      },
      gate: gateOf(row, schema, notes),
      description: descriptionOf(row),
      parents: {
        entries: row.parents.map(({ summary, ...place }) => ({
          ...place,
          ...(summary === "" ? {} : { summary }),
        })),
        fetch: `query_items get itemId=${itemId} includeAncestors=true`,
      },
      blockers: {
        entries: row.blocked_by.map((edge) =>
          toBlocker(edge, schema.onCancelled ?? deps.settings.onCancelled),
        ),
        fetch: `query_dependencies itemId=${itemId} direction=incoming`,
      },
      lastAttempt: lastAttemptOf(row),
      notes: notesOf(itemId, notes),
      related: { entries: row.related, fetch: `query_dependencies itemId=${itemId}` },
      siblings: {
        entries: row.siblings,
        fetch: `query_items search parentId=${row.parent_id ?? ""}`,
      },
      activity: {
        entries: row.activity.map((one) => ({
          at: new Date(one.at).toISOString(),
          fromRole: one.from_role,
          toRole: one.to_role,
          trigger: one.trigger,
          ...(one.summary === null ? {} : { summary: one.summary }),
        })),
        fetch: "get_context mode=session-resume",
      },
    },
    budget,
  );
}

function toItem(row: BriefRow): Brief["item"] {
  const csv = (words: readonly string[]): string | undefined =>
    words.length === 0 ? undefined : words.join(",");
  const item = {
    id: row.item_id,
    title: row.title,
    role: row.role,
    previousRole: row.previous_role ?? undefined,
    outcome: row.outcome ?? undefined,
    statusLabel: row.status_label ?? undefined,
    priority: row.priority,
    complexity: row.complexity ?? undefined,
    type: row.type ?? undefined,
    tags: csv(row.tags),
    traits: csv(row.traits),
    needs: csv(row.needs),
    assignee: row.assignee ?? undefined,
    summary: row.summary === "" ? undefined : row.summary,
    parentId: row.parent_id,
    rootId: row.root_id,
    depth: row.depth,
    version: row.version,
    requiresVerification: row.requires_verification || undefined,
    attempts: row.attempts || undefined,
    dead: row.dead || undefined,
    availableAt: row.available_at?.toISOString(),
    dueAt: row.due_at?.toISOString(),
    isClaimed: row.agent !== null && row.expires_at !== null && row.expires_at > row.now,
    blockedAncestors: row.ancestor_blockers || undefined,
    openChildren: row.open_children || undefined,
    properties: row.properties ?? undefined,
    metadata: row.metadata ?? undefined,
  };
  // What is undefined is not sent.
  return JSON.parse(JSON.stringify(item)) as Brief["item"];
}

function gateOf(row: BriefRow, schema: ItemSchema, notes: readonly ListedNoteRow[]): BriefPart {
  const phase = phaseOf({ role: row.role, previousRole: row.previous_role });
  const fetch = `query_items schema itemId=${row.item_id}`;
  if (!schema.matched || phase === null) return { entries: [], fetch };
  const filled = new Set(
    notes.filter((note) => note.body === null || note.body.trim() !== "").map(({ key }) => key),
  );
  const missing = schema.notes
    .filter((note) => note.required && note.role === phase && !filled.has(note.key))
    .map(({ key, description, guidance, skill }) => ({
      key,
      ...(description === "" ? {} : { description: clipText(description, 500) }),
      ...(guidance === null ? {} : { guidance: clipText(guidance, GUIDANCE_LENGTH_MAX) }),
      ...(skill === null ? {} : { skill }),
    }));
  const gate = { phase, complete: missing.length === 0, missing };
  const clip = (): unknown => ({ ...gate, missing: missing.map(({ key }) => ({ key })) });
  return { entries: [gate], single: true, clip, fetch };
}

function descriptionOf(row: BriefRow): BriefPart {
  const { description } = row;
  return {
    entries: description === null || description === "" ? [] : [description],
    single: true,
    clip: (_, bytes) => clipBytes(description ?? "", bytes),
    fetch: `query_items get itemId=${row.item_id}`,
  };
}

function toBlocker(edge: BriefRow["blocked_by"][number], onCancelled: "hold" | "release"): unknown {
  const { id, title, role, outcome, unblock_at: unblockAt } = edge;
  const requiredRole = unblockAt ?? "terminal";
  const rule = { threshold: requiredRole, onCancelled: edge.on_cancelled ?? onCancelled };
  return {
    id,
    title,
    role,
    ...(outcome === null ? {} : { outcome }),
    requiredRole,
    satisfied: isSatisfied(rule, { role, outcome }),
  };
}

function lastAttemptOf(row: BriefRow): BriefPart {
  const { last_attempt: last } = row;
  const fetch = `explain_item itemId=${row.item_id}`;
  // One that ended well has nothing to tell whoever goes on.
  if (last === null || last.end_reason === "completed") return { entries: [], fetch };
  const entry = {
    endReason: last.end_reason,
    endedAt: new Date(last.ended_at).toISOString(),
    ...(last.detail === null ? {} : { detail: last.detail }),
  };
  return { entries: [entry], single: true, fetch };
}

function notesOf(itemId: string, rows: readonly ListedNoteRow[]): BriefPart {
  const read = rows.filter((row) => row.body !== null);
  const unread = rows.slice(read.length);
  const beyond = (rows[0]?.total ?? 0) - rows.length;
  return {
    entries: read.map(({ key, role, version, modified_at: modifiedAt, body }) => ({
      key,
      role,
      version,
      modifiedAt: modifiedAt.toISOString(),
      body,
    })),
    clip: (entry, bytes) => {
      const note = entry as NonNullable<Brief["notes"]>[number];
      const head = { ...note, body: "", bodyLength: note.body.length };
      return { ...head, body: clipBytes(note.body, bytes - Buffer.byteLength(JSON.stringify(head))) };
    },
    unread: {
      entries: unread.length + beyond,
      bytes: unread.reduce((sum, row) => sum + row.body_length, 0),
    },
    fetch: `query_notes list itemId=${itemId} includeBody=true`,
  };
}
