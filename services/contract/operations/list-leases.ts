/** `list_leases`: which item has which resource, since when, until when. For operators; REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

const input = z.strictObject({
  key: fields.resourceKey.optional().describe("Leases on this resource."),
  ancestorId: fields.itemRef.optional().describe("Leases of items within this subtree."),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListLeasesInput = z.output<typeof input>;

const lease = answer({
  resourceKey: z.string(),
  mode: z.enum(["exclusive", "shared"]),
  holderItemId: id,
  title: z.string(),
  /** For administrators: the door leaves it out for anybody else. */
  acquiredByActorId: z.string().optional(),
  acquiredAt: at,
  originalAcquiredAt: at,
  /** Of a held item's lease, when its claim expires. */
  expiresAt: at,
  /** Somebody holds the item, so heartbeats keep the lease. */
  held: z.boolean(),
});
export type ListedLease = z.output<typeof lease>;

const output = answer({
  leases: z.array(lease),
  total: z.int(),
  ...offsetPage,
});
export type ListLeasesOutput = z.output<typeof output>;

function render(result: ListLeasesOutput): string {
  return bounded([
    `${result.leases.length} of ${result.total} leases`,
    ...result.leases.map(
      (one) =>
        `${one.resourceKey} [${one.mode}] ${one.holderItemId} ${facts({ since: one.acquiredAt, until: one.expiresAt })} ${oneLine(one.title, 80)}`,
    ),
  ]);
}

export const listLeases = defineOperation({
  name: "list_leases",
  description: "List which item has which resource, since when and until when.",
  input,
  output,
  annotations: readsOnly("List resource leases"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
