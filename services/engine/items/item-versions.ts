/** What the texts of an item said before, and what is different: `query_items` history and diff. */
import {
  findItemHistory,
  findItemTexts,
  findTextsAt,
  type ItemVersionRow,
  type TextField,
} from "../../../db/stores/item-version-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type {
  DiffItem,
  ItemDiff,
  ItemHistory,
  ItemHistoryOf,
  ItemVersion,
} from "../../contract/item-history.ts";
import { DIFF_LENGTH_MAX } from "../../contract/limits.ts";
import { unifiedDiff } from "../../core/texts/line-diff.ts";
import { toVersion } from "../notes/note-answers.ts";
import { fitPage } from "../queries/fit-page.ts";
import { requireItem } from "../resolve-items.ts";
import type { Looker } from "../access.ts";

export function toItemVersion(row: ItemVersionRow): ItemVersion {
  return { ...toVersion(row), fields: [...row.fields] };
}

export async function itemHistory(
  handle: Handle,
  input: ItemHistoryOf,
  caller: Looker,
): Promise<ItemHistory> {
  const itemId = await requireItem(handle, input.itemId, caller);
  const now = await findItemTexts(handle, itemId);
  if (now === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
  const rows = await findItemHistory(handle, itemId, { before: input.before, limit: input.limit + 1 });
  const versions = fitPage(rows.slice(0, input.limit).map(toItemVersion));
  return { itemId, version: now.version, versions, hasMore: versions.length < rows.length };
}

const FIELDS: readonly TextField[] = ["title", "summary", "description"];

/** Without versions: what the latest change of a text did. */
export async function itemDiff(handle: Handle, input: DiffItem, caller: Looker): Promise<ItemDiff> {
  const itemId = await requireItem(handle, input.itemId, caller);
  const now = await findItemTexts(handle, itemId);
  if (now === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
  const [latest] = await findItemHistory(handle, itemId, { limit: 1 });
  const to = input.to ?? (input.from === null ? (latest?.version ?? now.version) : now.version);
  const from = input.from ?? Math.max(1, to - 1);
  for (const version of [from, to]) {
    if (version > now.version) throw notKept(itemId, version);
  }
  const [then, later] = [await findTextsAt(handle, itemId, from), await findTextsAt(handle, itemId, to)];
  const said = (texts: typeof then, field: TextField): string => {
    const value = texts[field];
    return (value === undefined ? now[field] : value) ?? "";
  };
  let room = DIFF_LENGTH_MAX;
  const fields = FIELDS.flatMap((field) => {
    const [left, right] = [said(then, field), said(later, field)];
    if (left === right) return [];
    const { text: diff, ...counts } = unifiedDiff(left, right, room);
    room -= diff.length;
    return [{ field, diff, ...counts }];
  });
  return { itemId, from, to, fields };
}

function notKept(itemId: string, version: number) {
  return fault("RESOURCE_NOT_FOUND", `item ${itemId} has no version ${version} yet`);
}
