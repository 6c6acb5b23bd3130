/** `manage_plan_documents`: plans that trees of work are made from, and the rules of a project. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, id } from "../answers.ts";
import { type AddFault, crossField, refuseMisplaced } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import {
  DOCUMENT_STATUSES,
  documentHead,
  type DocumentHeadAnswer,
  documentShape,
  documentSlug,
} from "../documents.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, excerpt, facts } from "../rendering.ts";

const OPERATIONS = ["stash", "get", "list"] as const;
type Operation = (typeof OPERATIONS)[number];

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    rootId: fields.itemRef.describe("A root: an item without parent."),
    slug: documentSlug.optional().describe("Its name; rule/<key> for a rule."),
    body: z.string().optional().describe("stash: Markdown."),
    bodyFromFile: z.string().min(1).max(1_000).optional().describe("Instead of body."),
    status: z.enum(DOCUMENT_STATUSES).optional().describe("list."),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).optional(),
    offset: z.int().min(0).optional().describe("get: the text from here on, in characters."),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

/** An argument that an operation would ignore is refused. */
const BELONGS: Readonly<Record<string, readonly Operation[]>> = {
  slug: ["stash", "get"],
  body: ["stash"],
  bodyFromFile: ["stash"],
  status: ["list"],
  limit: ["list"],
  offset: ["get", "list"],
};

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  const operation = OPERATIONS.find((one) => one === call.operation);
  if (operation === undefined) return; // The field's own message says so.
  refuseMisplaced(call, operation, BELONGS, add);
  if (operation !== "list" && call.slug === undefined) add(["slug"], "is needed: which document");
  if (operation !== "stash") return;
  if (call.body === undefined && call.bodyFromFile === undefined)
    add(["body"], "is needed: the whole text, or bodyFromFile");
  if (call.body !== undefined && call.bodyFromFile !== undefined)
    add(["bodyFromFile"], "cannot be combined with body; send one of them");
}

type Shape = z.output<typeof shape>;
type Common = Pick<Shape, "rootId" | "actor" | "workerId" | "requestId">;
export type StashDocument = Common & {
  readonly operation: "stash";
  readonly slug: string;
  /** Where it is null, the text is in the file. */
  readonly body: string | null;
  readonly bodyFromFile: string | null;
};
export type GetDocument = Common & {
  readonly operation: "get";
  readonly slug: string;
  readonly offset: number;
};
export type ListDocuments = Common & {
  readonly operation: "list";
  readonly status: Shape["status"] | null;
  readonly limit: number;
  readonly offset: number;
};
/** A parsed call. */
export type ManagePlanDocumentsInput = StashDocument | GetDocument | ListDocuments;
export type ManagePlanDocumentsRequest = z.input<typeof shape>;

const input = shape.transform((call): ManagePlanDocumentsInput => {
  const { operation, rootId, actor, workerId, requestId } = call;
  const common: Common = { rootId, actor, workerId, requestId };
  const slug = call.slug ?? ""; // Never empty where it counts: see the rules.
  switch (operation) {
    case "stash":
      return {
        ...common,
        operation,
        slug,
        body: call.body ?? null,
        bodyFromFile: call.bodyFromFile ?? null,
      };
    case "get":
      return { ...common, operation, slug, offset: call.offset ?? 0 };
    case "list": {
      const { status = null, limit = LIST_LIMIT_DEFAULT, offset = 0 } = call;
      return { ...common, operation, status, limit, offset };
    }
  }
});

const stashed = documentHead.extend({
  /** False: it was this text already. */
  changed: z.boolean(),
  replayed: z.boolean().optional(),
});
const got = answer({
  ...documentShape,
  /** From the offset of the call on, as much as an answer holds. */
  body: z.string(),
  /** Where the next part begins; absent: that was the end. */
  nextOffset: z.int().optional(),
});
const list = answer({
  rootId: id,
  plans: z.array(documentHead),
  returned: z.int(),
  hasMore: z.boolean(),
  /** Left out behind the last page. */
  total: z.int().optional(),
  offset: z.int(),
});
const output = z.union([got, stashed, list]);
export type StashDocumentOutput = z.output<typeof stashed>;
export type GetDocumentOutput = z.output<typeof got>;
export type ListDocumentsOutput = z.output<typeof list>;
export type ManagePlanDocumentsOutput = z.output<typeof output>;

function headLine(head: DocumentHeadAnswer): string {
  const { id, slug, status, updatedAt, adoptedByItemId } = head;
  return `${id} ${slug} [${status}] ${facts({ updatedAt, adoptedByItemId })}`;
}

function render(result: ManagePlanDocumentsOutput): string {
  if ("plans" in result) {
    const { plans, returned, total, hasMore, offset } = result;
    return bounded([
      `${returned} documents ${facts({ total })}${hasMore ? `; next page: offset ${offset + returned}` : ""}`,
      ...plans.map(headLine),
    ]);
  }
  if ("body" in result) {
    const { nextOffset } = result;
    return bounded([`${headLine(result)} ${facts({ nextOffset })}`.trim(), excerpt(result.body)]);
  }
  return `${result.changed ? "stored" : "unchanged"} ${headLine(result)}`;
}

export const managePlanDocuments = defineOperation({
  name: "manage_plan_documents",
  description:
    "Texts of a project (root item). stash a plan, which create_work_tree takes notes from by heading and adopts " +
    "for good, or a rule under slug rule/<key>. get one, list all.",
  input,
  output,
  annotations: writes("Manage plan documents", { destructive: true }),
  capability: "write-config",
  capabilitiesFor: ({ operation }) => [operation === "stash" ? "write-config" : "read"],
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
