/** What an overview answers: items with how many there are below them, by role. */
import { z } from "zod";
import { answer, fullItemShape, id, itemHeadShape } from "./answers.ts";
import { bounded, itemLine, oneLine } from "./rendering.ts";
import { ROLES } from "./vocabulary.ts";

const count = z.int();
export const childCounts = answer({
  queue: count,
  work: count,
  review: count,
  blocked: count,
  terminal: count,
});
export type ChildCounts = z.output<typeof childCounts>;

const overviewChild = answer({
  id,
  ...itemHeadShape,
  statusLabel: z.string().optional(),
  traits: z.array(z.string()).optional(),
  childCounts,
});
export type OverviewChild = z.output<typeof overviewChild>;

const claimSummary = answer({ active: count, expired: count, unclaimed: count });
export type ClaimSummary = z.output<typeof claimSummary>;

const overviewItem = answer({
  ...overviewChild.shape,
  claimSummary: claimSummary.optional(),
  children: z.array(overviewChild).optional(),
});
export type OverviewItem = z.output<typeof overviewItem>;

const pageShape = {
  total: count,
  truncated: z.boolean(),
  returned: count,
  limit: count,
  offset: count,
};

/** Roots, or the children of an anchor. */
export const overviewPage = answer({
  anchor: answer({ id, title: z.string() }).optional(),
  items: z.array(overviewItem),
  ...pageShape,
});
export type OverviewPage = z.output<typeof overviewPage>;

/** One item in full, and its children. */
export const itemOverview = answer({
  item: answer(fullItemShape),
  childCounts,
  children: z.array(overviewChild),
  ...pageShape,
});
export type ItemOverview = z.output<typeof itemOverview>;

function counted(counts: ChildCounts): string {
  const parts = ROLES.filter((role) => counts[role] > 0).map((role) => `${counts[role]} ${role}`);
  return parts.length === 0 ? "nothing below" : parts.join(", ");
}

function more(page: { readonly truncated: boolean; readonly offset: number; readonly returned: number }) {
  return page.truncated ? `; next page: offset ${page.offset + page.returned}` : "";
}

export function renderOverviewPage(page: OverviewPage): string {
  const what = page.anchor === undefined ? "roots" : `children of ${oneLine(page.anchor.title, 80)}`;
  return bounded([
    `${page.returned} of ${page.total} ${what}${more(page)}`,
    ...page.items.flatMap((item) => [
      `${itemLine(item)}: ${counted(item.childCounts)}`,
      ...(item.children ?? []).map((child) => `  ${itemLine(child)}: ${counted(child.childCounts)}`),
    ]),
  ]);
}

export function renderItemOverview(overview: ItemOverview): string {
  return bounded([
    `${itemLine(overview.item)}: ${counted(overview.childCounts)}`,
    overview.item.summary ? `Summary: ${oneLine(overview.item.summary, 1_000)}` : "",
    `${overview.returned} of ${overview.total} children${more(overview)}`,
    ...overview.children.map((child) => `${itemLine(child)}: ${counted(child.childCounts)}`),
  ]);
}
