/**
 * The texts of an item in an update: written whole, edited by anchor, or taken back. All of
 * it goes by what they say under the item's lock, and what they said is kept.
 */
import {
  type FieldEdit,
  findItemChange,
  findItemHistory,
  findItemTexts,
  findTextsAt,
  type ItemTextsRow,
  keepItemVersion,
  type TextField,
  type TextValues,
} from "../../../db/stores/item-version-store.ts";
import type { ItemPatch } from "../../../db/stores/item-write-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import {
  DESCRIPTION_LENGTH_MAX,
  PROPERTIES_SIZE_MAX_BYTES,
  SUMMARY_LENGTH_MAX,
  TEXT_VERSIONS_KEPT,
  TITLE_LENGTH_MAX,
} from "../../contract/limits.ts";
import type { ItemChange, UpdateItemsOutput } from "../../contract/operations/manage-items.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import { editsBetween } from "../../core/texts/line-diff.ts";
import type { Author } from "../../core/world.ts";
import { editText, INTERVENING_MAX, requireVersion, undoText } from "../texts/edit-faults.ts";
import { toItemVersion } from "./item-versions.ts";

type Marks = Pick<UpdateItemsOutput["items"][number], "rebased" | "intervening">;

export interface TextChange {
  /** Columns to write. */
  readonly patch: Pick<ItemPatch, TextField | "properties">;
  readonly before: TextValues;
  readonly edits: readonly FieldEdit[] | null;
  readonly marks: Marks;
}

const FIELDS: readonly TextField[] = ["title", "summary", "description"];
const LENGTH_MAX: Readonly<Record<TextField, number>> = {
  title: TITLE_LENGTH_MAX,
  summary: SUMMARY_LENGTH_MAX,
  description: DESCRIPTION_LENGTH_MAX,
};
/** Fields of an element that an edit by anchor may come with and still be applied to a newer version. */
const REBASES = new Set(["itemId", "expectedVersion", "fence", "edits"]);

/**
 * Decides what the texts become. Changes nothing yet.
 * @throws version_conflict, or what stands against an edit or an undo
 */
export async function decideTexts(
  tx: Handle,
  id: string,
  change: ItemChange,
  written: Pick<ItemPatch, TextField>,
): Promise<TextChange> {
  const now = await findItemTexts(tx, id);
  if (now === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  const marks = await judgeVersion(tx, id, change, now);
  const { texts, edits } = await changedTexts(tx, id, change, now, written);
  const changed = FIELDS.filter((field) => texts[field] !== undefined && texts[field] !== now[field]);
  const merged = mergeProperties(change, now);
  return {
    patch: { ...(texts as TextChange["patch"]), ...(merged === undefined ? {} : { properties: merged }) },
    before: Object.fromEntries(changed.map((field) => [field, now[field]])),
    edits,
    marks,
  };
}

/** Keeps what the texts said, once the update has made its version. */
export async function keepTexts(
  tx: Handle,
  itemId: string,
  { before, edits }: TextChange,
  version: number,
  author: Author,
): Promise<void> {
  if (Object.keys(before).length === 0) return;
  await keepItemVersion(tx, { itemId, version, before, edits, author }, TEXT_VERSIONS_KEPT);
}

async function judgeVersion(tx: Handle, id: string, change: ItemChange, now: ItemTextsRow): Promise<Marks> {
  const { expectedVersion: expected } = change;
  if (expected === undefined || expected === now.version) return {};
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const rebases = change.edits !== undefined && given.every(([field]) => REBASES.has(field));
  if (!rebases || expected > now.version) requireVersion(expected, now.version, now.modified_at, "the item");
  const rows = await findItemHistory(tx, id, { after: expected, limit: INTERVENING_MAX });
  return { rebased: true, intervening: rows.map(toItemVersion) };
}

async function changedTexts(
  tx: Handle,
  id: string,
  change: ItemChange,
  now: ItemTextsRow,
  written: Pick<ItemPatch, TextField>,
): Promise<{ texts: TextValues; edits: readonly FieldEdit[] | null }> {
  if (change.undo !== undefined) return await undoVersion(tx, id, change.undo, now);
  if (change.edits === undefined) return { texts: written, edits: null };
  const texts: Partial<Record<TextField, string | null>> = { ...written };
  const applied: FieldEdit[] = [];
  for (const field of new Set(change.edits.map((edit) => edit.field))) {
    const edits = change.edits.filter((edit) => edit.field === field);
    const edited = editText(now[field] ?? "", edits, now.version);
    texts[field] = storable(field, edited.text);
    applied.push(...edited.applied.map((one) => ({ ...one, field })));
  }
  // Of a change that also wrote a field whole, the edits alone would not be the way back.
  return { texts, edits: Object.keys(written).length === 0 ? applied : null };
}

async function undoVersion(
  tx: Handle,
  id: string,
  version: number,
  now: ItemTextsRow,
): Promise<{ texts: TextValues; edits: readonly FieldEdit[] }> {
  const change = await findItemChange(tx, id, version);
  if (change === null) {
    throw fault(
      "RESOURCE_NOT_FOUND",
      `version ${version} changed no text of the item, or is not kept any more`,
      {
        hint: "Ask for its history with query_items.",
      },
    );
  }
  const after = await findTextsAt(tx, id, version);
  const texts: Partial<Record<TextField, string | null>> = {};
  const applied: FieldEdit[] = [];
  for (const field of FIELDS) {
    const before = change.before[field];
    if (before === undefined) continue;
    const said = after[field] === undefined ? now[field] : after[field];
    const edits =
      change.edits?.filter((edit) => edit.field === field) ?? editsBetween(before ?? "", said ?? "");
    const undone = undoText(now[field] ?? "", edits, version);
    texts[field] = storable(field, undone.text);
    applied.push(...undone.applied.map((one) => ({ ...one, field })));
  }
  return { texts, edits: applied };
}

/** As the field holds a text, if it does: a blank description is none, a title is never blank. */
function storable(field: TextField, text: string): string | null {
  if (text.length > LENGTH_MAX[field]) {
    const message = `the ${field} would have ${text.length} characters; at most ${LENGTH_MAX[field]}`;
    throw fault("validation_failed", message);
  }
  return field === "description" && text.trim() === "" ? null : text;
}

function mergeProperties(change: ItemChange, now: ItemTextsRow): ItemPatch["properties"] | undefined {
  const { mergeProperties: merge } = change;
  if (merge === undefined) return undefined;
  const properties = mergePatch(now.properties, merge);
  const size = Buffer.byteLength(JSON.stringify(properties));
  if (size > PROPERTIES_SIZE_MAX_BYTES) {
    const message = `properties would have ${size} bytes of JSON; at most ${PROPERTIES_SIZE_MAX_BYTES}`;
    throw fault("validation_failed", message);
  }
  return properties;
}
