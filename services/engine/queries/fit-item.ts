/**
 * An item in full is answered whole as long as that fits into an answer. All of a description in plain
 * letters does; one of 64,000 characters of four bytes each does not, and says so.
 */
import type { FullItem } from "../../contract/operations/query-items.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import { fitPage, PAGE_SIZE_MAX_BYTES, sizeOf } from "./fit-page.ts";

/** Beside the description; all that is free and long. */
const METADATA_LENGTH = 2_000;
const DESCRIPTION_LENGTHS = [16_000, 8_000, 4_000, 0];
export const ITEM_SIZE_MAX_BYTES = PAGE_SIZE_MAX_BYTES + 12_000;

interface Clipped {
  readonly clipped?: readonly string[] | undefined;
}

/** `clipped` names the fields of which only the beginning is there. */
export function fitItem<T extends FullItem & Clipped>(item: T, budget = ITEM_SIZE_MAX_BYTES): T & Clipped {
  if (sizeOf(item) <= budget) return item;
  const { ancestors, metadata } = item;
  const short: T = {
    ...item,
    ...(ancestors === undefined ? {} : { ancestors: fitPage(ancestors, budget / 3) }),
    ...(metadata ? { metadata: clipText(metadata, METADATA_LENGTH) } : {}),
  };
  const fitting = [item.description?.length ?? 0, ...DESCRIPTION_LENGTHS]
    .map((length): T => ({ ...short, description: clipText(item.description ?? "", length) || null }))
    .find((one) => sizeOf(one) <= budget);
  const shown = fitting ?? { ...short, description: null };
  const clipped = (["description", "metadata"] as const).filter(
    (field) => shown[field] !== item[field] || item.clipped?.includes(field) === true,
  );
  return { ...shown, clipped };
}
