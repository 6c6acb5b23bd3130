/** Rows of task-orchestrator as Muster stores them. A row that does not fit says why by an {@link Unfit}. */
import { createHash } from "node:crypto";
import type {
  ImportedConfig,
  ImportedEdge,
  ImportedItem,
  ImportedNote,
  ImportedPlan,
  ImportedText,
  ImportedTransition,
} from "../../../db/stores/import-store.ts";
import * as limits from "../../contract/limits.ts";
import { PRIORITIES, ROLES, THRESHOLDS } from "../../contract/vocabulary.ts";
import { PHASES } from "../../core/schemas/item-schema.ts";
import { fingerprintOf, readProjectConfig } from "../config/read-config.ts";
import {
  type Fit,
  instant,
  integer,
  isRecord,
  jsonOf,
  needId,
  needText,
  oneOf,
  optionalId,
  optionalOneOf,
  optionalText,
  Unfit,
} from "./read-values.ts";
import type { SourceRow } from "./source.ts";

const TAG = /^[a-z0-9][a-z0-9-]*$/;
const TRAIT = /^[a-z0-9][a-z0-9._:/-]*$/i;

export function readItemRow(row: SourceRow): Fit<ImportedItem> {
  const changes: string[] = [];
  const role = oneOf(row, "role", ROLES);
  const { traits, properties } = traitsOf(row, changes);
  const previousRole = optionalOneOf(row, "previous_role", ROLES);
  const heldBy = optionalText(row, "claimed_by");
  return {
    changes,
    row: {
      id: needId(row, "id"),
      parent_id: optionalId(row, "parent_id"),
      title: needText(row, "title", limits.TITLE_LENGTH_MAX),
      summary: optionalText(row, "summary", limits.SUMMARY_LENGTH_MAX) ?? "",
      description: optionalText(row, "description", limits.DESCRIPTION_LENGTH_MAX),
      type: optionalText(row, "type", limits.TYPE_LENGTH_MAX),
      tags: wordsOf(optionalText(row, "tags"), "tags", TAG, limits.TAGS_PER_ITEM_MAX, changes),
      traits,
      properties,
      metadata: optionalText(row, "metadata", limits.METADATA_LENGTH_MAX),
      priority: oneOf(row, "priority", PRIORITIES),
      complexity:
        row["complexity"] === null || row["complexity"] === undefined
          ? null
          : integer(row, "complexity", limits.COMPLEXITY_MIN, limits.COMPLEXITY_MAX),
      requires_verification: integer(row, "requires_verification", 0, 1) === 1,
      version: integer(row, "version", 1, 2 ** 31 - 1),
      created_at: instant(row, "created_at"),
      modified_at: instant(row, "modified_at"),
      role,
      previous_role: resumable(previousRole, changes),
      outcome: role === "terminal" ? outcomeOf(row) : null,
      status_label: optionalText(row, "status_label", limits.STATUS_LABEL_LENGTH_MAX),
      role_changed_at: instant(row, "role_changed_at"),
      held_by: heldBy,
      held_since: heldBy === null ? null : instant(row, "claimed_at"),
    },
  };
}

function resumable(role: string | null, changes: string[]): string | null {
  if (role === null || (PHASES as readonly string[]).includes(role)) return role;
  changes.push(`previous_role ${role} is not one that an item goes back to`);
  return null;
}

/** `ended_by` is the trigger of the last move into terminal. */
function outcomeOf(row: SourceRow): "done" | "cancelled" {
  const { ended_by: trigger, status_label: label } = row;
  if (typeof trigger === "string") return trigger === "cancel" ? "cancelled" : "done";
  return label === "cancelled" ? "cancelled" : "done";
}

/** Comma-separated words. White space around them was part of them, and kept them from being found. */
function wordsOf(
  text: string | null,
  column: string,
  fits: RegExp,
  max: number,
  changes: string[],
): readonly string[] {
  if (text === null || text.trim() === "") return [];
  const written = text.split(",");
  const words = [...new Set(written.map((word) => word.trim()).filter((word) => word !== ""))];
  const kept = words.filter((word) => fits.test(word) && word.length <= limits.TAG_LENGTH_MAX);
  for (const word of words.filter((word) => !kept.includes(word)))
    changes.push(`${column}: ${JSON.stringify(word.slice(0, 100))} is none and was left out`);
  if (kept.length > max) throw new Unfit(`${column} has ${kept.length} entries; at most ${max} are kept`);
  if (words.join(",") !== text)
    changes.push(
      `${column}: ${JSON.stringify(text.slice(0, 200))} was written without its spaces and repetitions`,
    );
  return kept;
}

/** Traits lie inside of the properties, as a list or as text. */
function traitsOf(
  row: SourceRow,
  changes: string[],
): { readonly traits: readonly string[]; readonly properties: string | null } {
  const value = jsonOf(row, "properties");
  if (value === null) return { traits: [], properties: null };
  if (!isRecord(value)) throw new Unfit("properties is no JSON object");
  // What JSON can write and PostgreSQL cannot hold.
  if (/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i.test(JSON.stringify(value)))
    throw new Unfit(
      "properties has a NUL character or half of a surrogate pair, which PostgreSQL cannot hold",
    );
  const named = value["traits"];
  const text = Array.isArray(named) ? named.map(String).join(",") : typeof named === "string" ? named : null;
  if (text === null && named !== undefined && named !== null)
    changes.push("properties.traits is neither a list nor text and was left out");
  return {
    traits: wordsOf(text, "properties.traits", TRAIT, limits.CAPABILITIES_MAX, changes),
    properties: optionalText(row, "properties"),
  };
}

const LEGACY_STATUS: Readonly<Record<string, string>> = { unverified: "absent", failed: "rejected" };

function authorOf(row: SourceRow): ImportedText {
  const agent = optionalText(row, "actor_id");
  const kind = optionalText(row, "actor_kind");
  const parent = optionalText(row, "actor_parent");
  const actor =
    agent === null
      ? null
      : { id: agent, ...(kind === null ? {} : { kind }), ...(parent === null ? {} : { parent }) };
  return { agent, actor, verification: verificationOf(row) };
}

function verificationOf(row: SourceRow): ImportedText["verification"] {
  const status = optionalText(row, "verification_status");
  if (status === null) return null;
  const reason = optionalText(row, "verification_reason");
  const proof = optionalText(row, "actor_proof");
  return {
    status: LEGACY_STATUS[status] ?? status,
    verifier: optionalText(row, "verification_verifier") ?? "noop",
    ...(reason === null ? {} : { reason }),
    // A proof is a credential, and never stored.
    ...(proof === null || proof === ""
      ? {}
      : { proof: { sha256: createHash("sha256").update(proof).digest("hex") } }),
  };
}

export function readNoteRow(row: SourceRow): Fit<ImportedNote> {
  const body = optionalText(row, "body") ?? "";
  const size = Buffer.byteLength(body);
  if (size > limits.NOTE_BODY_SIZE_MAX_BYTES)
    throw new Unfit(`body has ${size} bytes; at most ${limits.NOTE_BODY_SIZE_MAX_BYTES} are kept`);
  return {
    changes: [],
    row: {
      id: needId(row, "id"),
      item_id: needId(row, "work_item_id"),
      key: needText(row, "key", limits.NOTE_KEY_LENGTH_MAX),
      role: oneOf(row, "role", PHASES),
      body,
      created_at: instant(row, "created_at"),
      modified_at: instant(row, "modified_at"),
      ...authorOf(row),
    },
  };
}

export function readTransitionRow(row: SourceRow): Fit<ImportedTransition> {
  const consumed = jsonOf(row, "consumed_credentials");
  return {
    changes: [],
    row: {
      item_id: needId(row, "item_id"),
      from_role: oneOf(row, "from_role", ROLES),
      to_role: oneOf(row, "to_role", ROLES),
      from_label: optionalText(row, "from_status_label"),
      to_label: optionalText(row, "to_status_label"),
      trigger: needText(row, "trigger"),
      summary: optionalText(row, "summary"),
      at: instant(row, "transitioned_at"),
      consumed_credentials: Array.isArray(consumed) && consumed.length > 0 ? consumed.map(String) : null,
      ...authorOf(row),
    },
  };
}

const TYPES = ["BLOCKS", "IS_BLOCKED_BY", "RELATES_TO"] as const;

/** Muster knows one direction: from blocks to. */
export function readEdgeRow(row: SourceRow): Fit<ImportedEdge> {
  const changes: string[] = [];
  const type = oneOf(row, "type", TYPES);
  const [from, to] = [needId(row, "from_item_id"), needId(row, "to_item_id")];
  const written = optionalText(row, "unblock_at");
  const threshold = THRESHOLDS.find((one) => one === written?.toLowerCase());
  if (written !== null && threshold === undefined)
    throw new Unfit(`unblock_at is "${written}", not one of ${THRESHOLDS.join(", ")}`);
  if (type === "IS_BLOCKED_BY") changes.push("IS_BLOCKED_BY became BLOCKS with its ends swapped");
  if (type === "RELATES_TO" && threshold !== undefined)
    changes.push("unblock_at means nothing on RELATES_TO and was left out");
  return {
    changes,
    row: {
      id: needId(row, "id"),
      from_item: type === "IS_BLOCKED_BY" ? to : from,
      to_item: type === "IS_BLOCKED_BY" ? from : to,
      type: type === "RELATES_TO" ? "RELATES_TO" : "BLOCKS",
      unblock_at: type === "RELATES_TO" ? null : (threshold ?? null),
      created_at: instant(row, "created_at"),
    },
  };
}

const FINGERPRINT = /^[0-9a-f]{64}$/;
const HISTORY_MAX = 20;

/** Only a text that can be read: gates would never open under another. */
export function readConfigRow(row: SourceRow): Fit<ImportedConfig> {
  const text = needText(row, "config_yaml");
  const size = Buffer.byteLength(text);
  if (size > limits.CONFIG_SIZE_MAX_BYTES)
    throw new Unfit(`config_yaml has ${size} bytes; at most ${limits.CONFIG_SIZE_MAX_BYTES} are kept`);
  const parsed = readProjectConfig(text);
  if (!parsed.ok) throw new Unfit(`config_yaml cannot be read: ${parsed.faults.join("; ").slice(0, 1_000)}`);
  const fingerprint = fingerprintOf(text);
  const older = jsonOrList(row["fingerprint_history"]).filter(
    (one) => FINGERPRINT.test(one) && one !== fingerprint,
  );
  return {
    changes: row["fingerprint"] === fingerprint ? [] : ["fingerprint was worked out anew"],
    row: {
      root_id: needId(row, "root_item_id"),
      config_yaml: text,
      fingerprint,
      history: [fingerprint, ...new Set(older)].slice(0, HISTORY_MAX),
      updated_at: instant(row, "updated_at"),
    },
  };
}

/** A list as JSON, or as text with commas. */
function jsonOrList(value: unknown): string[] {
  if (typeof value !== "string") return [];
  try {
    const parsed: unknown = JSON.parse(value);
    if (Array.isArray(parsed)) return parsed.map(String);
  } catch {
    // Text then.
  }
  return value.split(/[\s,]+/);
}

export function readPlanRow(row: SourceRow): Fit<ImportedPlan> {
  const body = optionalText(row, "body") ?? "";
  const hash = createHash("sha256").update(body).digest("hex");
  return {
    changes: row["content_hash"] === hash ? [] : ["content_hash was worked out anew"],
    row: {
      id: needId(row, "id"),
      root_id: needId(row, "root_item_id"),
      slug: needText(row, "slug"),
      body,
      content_hash: hash,
      status: oneOf(row, "status", ["pending", "adopted"]),
      adopted_by: row["status"] === "adopted" ? optionalId(row, "adopted_by_item_id") : null,
      created_at: instant(row, "created_at"),
      modified_at: instant(row, "modified_at"),
    },
  };
}
