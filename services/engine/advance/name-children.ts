/** Says which children keep an item open: whoever is refused should not have to go and look. */
import { findOpenChildren } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { AdvanceVerdict } from "../../core/advance.ts";

/** So many are named; the rest is counted. */
const NAMED_MAX = 10;

type Verdict = AdvanceVerdict | { readonly kind: "bad_note" } | null;

/** The verdicts, by item, with the children named where they are what stands in the way. */
export async function nameChildren<V extends Verdict>(
  handle: Handle,
  itemIds: readonly string[],
  verdicts: readonly V[],
): Promise<V[]> {
  const isOpen = (verdict: Verdict | undefined): boolean =>
    verdict?.kind === "refused" && verdict.refusal.code === "open_children";
  const asked = itemIds.filter((_, index) => isOpen(verdicts[index]));
  const rows = await findOpenChildren(handle, asked, NAMED_MAX);
  return verdicts.map((verdict, index) => {
    if (verdict?.kind !== "refused" || verdict.refusal.code !== "open_children") return verdict;
    const children = rows
      .filter((row) => row.parent_id === itemIds[index])
      .map(({ item_id, title, role }) => ({ itemId: item_id, title, role }));
    return { ...verdict, refusal: { ...verdict.refusal, children } };
  });
}
