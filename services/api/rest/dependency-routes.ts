/** Edges between items. */
import { z } from "zod";
import { fault } from "../../contract/errors.ts";
import type {
  CreateDependenciesOutput,
  DeleteDependenciesOutput,
} from "../../contract/operations/manage-dependencies.ts";
import type { Backlinks } from "../../contract/operations/query-dependencies.ts";
import { backlinkDto, dependenciesDto, edgeCreateDto, edgeDto } from "../../contract/rest/note-dtos.ts";
import { pageShape, toWindow } from "../../contract/rest/pages.ts";
import type { RequestOf } from "../../contract/registry.ts";
import { LIST_LIMIT_MAX } from "../../contract/limits.ts";
import { onlyElement, replayMark } from "./element.ts";
import { readDependencies } from "./item-reads.ts";
import { JSON_BODY, type Route, route } from "./route.ts";

const AREA = "Dependencies";

export const DEPENDENCY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/items/{id}/dependencies",
    area: AREA,
    summary: "What an item blocks, what blocks it, and what is related to it",
    operation: "query_items",
    success: [{ status: 200, description: "Its edges", schema: dependenciesDto }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params }) => ({ operation: "get", itemId: params["id"] }),
    toResponse: async (item, _request, run) => ({
      status: 200,
      body: await readDependencies(run, (item as { readonly id: string }).id),
    }),
  }),
  route({
    method: "GET",
    path: "/items/{id}/backlinks",
    area: AREA,
    summary: "The items whose edges point at this one",
    operation: "query_dependencies",
    query: z.strictObject(pageShape(LIST_LIMIT_MAX)),
    success: [
      {
        status: 200,
        description: "Who points here; `x-has-more: true` says that there is another page",
        schema: z.array(backlinkDto),
      },
    ],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: async ({ params, query }, run) => {
      const itemId = params["id"] ?? "";
      await run("query_items", { operation: "get", itemId });
      return { operation: "backlinks", itemId, ...toWindow(query) };
    },
    toResponse: (output) => {
      const { backlinks, hasMore } = output as Backlinks;
      return { status: 200, body: backlinks, headers: { "x-has-more": String(hasMore) } };
    },
  }),
  route({
    method: "POST",
    path: "/dependencies",
    area: AREA,
    summary: "Draw an edge",
    operation: "manage_dependencies",
    body: edgeCreateDto,
    bodyRule: JSON_BODY,
    idempotent: true,
    success: [{ status: 201, description: "The new edge", schema: edgeDto }],
    refusals: ["validation_failed", "RESOURCE_NOT_FOUND", "cycle_detected", "CONFLICT_ERROR", "claim_lost"],
    toInput: ({ body, actor, requestId }) =>
      ({ operation: "create", dependencies: [body], actor, requestId }) as RequestOf<"manage_dependencies">,
    toResponse: (output) => {
      const { dependencies, failures, replayed = false } = output as CreateDependenciesOutput;
      return {
        status: 201,
        body: onlyElement(dependencies, failures),
        headers: replayMark(replayed),
      };
    },
  }),
  route({
    method: "DELETE",
    path: "/dependencies/{id}",
    area: AREA,
    summary: "Remove an edge",
    operation: "manage_dependencies",
    idempotent: true,
    success: [{ status: 204, description: "It is gone" }],
    refusals: ["RESOURCE_NOT_FOUND", "claim_lost"],
    toInput: ({ params, actor, requestId }) => ({
      operation: "delete",
      dependencyId: params["id"],
      actor,
      requestId,
    }),
    toResponse: (output) => {
      const { deleted, replayed = false } = output as DeleteDependenciesOutput;
      if (deleted === 0) throw fault("RESOURCE_NOT_FOUND", "there is no such edge");
      return { status: 204, headers: replayMark(replayed) };
    },
  }),
];
