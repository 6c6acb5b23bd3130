/** Plans and rules of projects. */
import { z } from "zod";
import { fault } from "../../contract/errors.ts";
import { LIST_LIMIT_MAX, PLAN_DOCUMENT_SIZE_MAX_BYTES } from "../../contract/limits.ts";
import type {
  GetDocumentOutput,
  ListDocumentsOutput,
  StashDocumentOutput,
} from "../../contract/operations/manage-plan-documents.ts";
import type { GetRuleOutput, ListRulesOutput } from "../../contract/operations/query-rules.ts";
import { DOCUMENT_STATUSES } from "../../contract/documents.ts";
import { planDto, ruleDto, ruleListDto } from "../../contract/rest/config-dtos.ts";
import { pageOf, pageShape, toPage, toWindow } from "../../contract/rest/pages.ts";
import { replayMark } from "./element.ts";
import { mismatch, quoted } from "./etag.ts";
import { type Route, route, type Run } from "./route.ts";

const AREA = "Projects";
const page = pageShape(LIST_LIMIT_MAX);

/** Operations answer a long text in parts; REST has it whole. */
async function wholeText(run: Run, first: GetDocumentOutput): Promise<GetDocumentOutput> {
  let document = first;
  while (document.nextOffset !== undefined) {
    const { rootId, slug, contentHash, body, nextOffset: offset } = document;
    const part = { operation: "get", rootId, slug, offset } as const;
    const next = (await run("manage_plan_documents", part)) as GetDocumentOutput;
    if (next.contentHash !== contentHash) throw mismatch("the document changed while it was read");
    document = { ...next, body: body + next.body };
  }
  return document;
}

export const PLAN_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/roots/{rootId}/plans",
    area: AREA,
    summary: "List a project's plans and rules",
    operation: "manage_plan_documents",
    query: z.strictObject({ status: z.enum(DOCUMENT_STATUSES).optional(), ...page }),
    success: [
      { status: 200, description: "A page of documents without their bodies", schema: pageOf(planDto) },
    ],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params, query }) => ({
      operation: "list",
      rootId: params["rootId"] ?? "",
      ...(query.status === undefined ? {} : { status: query.status }),
      ...toWindow(query),
    }),
    toResponse: (output, { query }) => {
      const { plans, hasMore, total } = output as ListDocumentsOutput;
      const { totalItems, ...rest } = toPage(plans, query, { total: total ?? 0, hasMore });
      // Behind the last page nobody counted.
      return { status: 200, body: { ...rest, ...(total === undefined ? {} : { totalItems }) } };
    },
  }),
  route({
    method: "GET",
    path: "/roots/{rootId}/plans/{slug+}",
    area: AREA,
    summary: "Read a plan, or a rule by the slug rule/<key>",
    operation: "manage_plan_documents",
    conditional: true,
    success: [{ status: 200, description: "The document", schema: planDto }],
    refusals: ["RESOURCE_NOT_FOUND", "VALIDATION_ERROR"],
    toInput: ({ params }) => ({ operation: "get", rootId: params["rootId"] ?? "", slug: params["slug"] }),
    toResponse: async (output, _request, run) => {
      const { nextOffset: _next, ...document } = await wholeText(run, output as GetDocumentOutput);
      const { contentHash, status } = document;
      return { status: 200, body: document, headers: { etag: quoted(`doc-${contentHash}-${status}`) } };
    },
  }),
  route({
    method: "PUT",
    path: "/roots/{rootId}/plans/{slug+}",
    area: AREA,
    summary: "Store a plan, or a rule under the slug rule/<key>",
    operation: "manage_plan_documents",
    bodyRule: {
      kind: "text",
      mediaTypes: ["text/markdown", "text/plain", "text/x-markdown"],
      limitBytes: PLAN_DOCUMENT_SIZE_MAX_BYTES,
    },
    idempotent: true,
    success: [{ status: 200, description: "It is stored", schema: planDto }],
    refusals: ["RESOURCE_NOT_FOUND", "VALIDATION_ERROR", "CONFLICT_ERROR"],
    toInput: ({ params, body, actor, requestId }) => ({
      operation: "stash",
      rootId: params["rootId"] ?? "",
      slug: params["slug"],
      body: String(body),
      actor,
      requestId,
    }),
    toResponse: (output) => {
      const { replayed, ...document } = output as StashDocumentOutput;
      const { contentHash, status } = document;
      const headers = { etag: quoted(`doc-${contentHash}-${status}`), ...replayMark(replayed) };
      return { status: 200, body: document, headers };
    },
    // A rule has a limit of its own, below that of the body.
    refused: (error) =>
      error.details?.["maxBytes"] === undefined
        ? error
        : fault("payload_too_large", error.message, { details: error.details, hint: error.hint }),
  }),
  route({
    method: "GET",
    path: "/roots/{rootId}/rules",
    area: AREA,
    summary: "List a project's rules, each with a mark of its text",
    operation: "query_rules",
    query: z.strictObject(page),
    success: [{ status: 200, description: "Its rules", schema: ruleListDto }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params, query }) => ({ operation: "list", rootId: params["rootId"], ...toWindow(query) }),
    toResponse: (output) => {
      const { rules, hasMore, total } = output as ListRulesOutput;
      return { status: 200, body: { rules, hasMore, ...(total === undefined ? {} : { totalItems: total }) } };
    },
  }),
  route({
    method: "GET",
    path: "/roots/{rootId}/rules/{key}",
    area: AREA,
    summary: "Read a rule",
    operation: "query_rules",
    conditional: true,
    success: [{ status: 200, description: "The rule", schema: ruleDto }],
    refusals: ["RESOURCE_NOT_FOUND", "VALIDATION_ERROR"],
    toInput: ({ params }) => ({ operation: "get", rootId: params["rootId"], key: params["key"] }),
    toResponse: (output) => {
      const { rulesVersion } = output as GetRuleOutput;
      return { status: 200, body: output, headers: { etag: quoted(`rule-${rulesVersion}`) } };
    },
  }),
];
