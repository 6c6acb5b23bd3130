/** The text that a project configures itself with, as its file is: YAML in the body, bytes and all. */
import { z } from "zod";
import type { MusterError } from "../../contract/errors.ts";
import { fault } from "../../contract/errors.ts";
import { CONFIG_SIZE_MAX_BYTES } from "../../contract/limits.ts";
import type { GetConfigOutput, PushConfigOutput } from "../../contract/operations/manage-project-config.ts";
import { projectConfigDto } from "../../contract/rest/config-dtos.ts";
import { replayMark } from "./element.ts";
import { mismatch, onlyTag, quoted } from "./etag.ts";
import { type Route, route, type Run } from "./route.ts";

const AREA = "Projects";
const PREFIX = "cfg-";

/** The text that an `If-Match` names. */
function expectedOf(header: string | undefined): string | undefined {
  const tag = onlyTag(header);
  if (tag === undefined) return undefined;
  if (!tag.startsWith(PREFIX)) throw mismatch();
  return tag.slice(PREFIX.length);
}

/** Operations answer a long text in parts; REST has it whole, or that of a later push. */
async function wholeText(run: Run, first: GetConfigOutput): Promise<GetConfigOutput> {
  let config = first;
  while (config.nextOffset !== undefined) {
    const { rootId, fingerprint, configYaml, nextOffset, relation } = config;
    const next = (await run("manage_project_config", {
      operation: "get",
      rootId,
      offset: nextOffset,
    })) as GetConfigOutput;
    if (next.fingerprint !== fingerprint) throw mismatch("the configuration changed while it was read");
    config = {
      ...next,
      configYaml: configYaml + next.configYaml,
      ...(relation === undefined ? {} : { relation }),
    };
  }
  return config;
}

/** The names that REST has for what is wrong with a text. */
function refusedText(error: MusterError): MusterError {
  const { details = {}, message, hint } = error;
  if (error.code === "version_conflict") return mismatch(message);
  if (error.code === "CONFLICT_ERROR" && details["relation"] === "superseded") {
    return fault("superseded", message, { details });
  }
  if (error.code !== "VALIDATION_ERROR") return error;
  if (details["embeddedRootId"] !== undefined) return fault("rootid_mismatch", message, { details });
  return message.startsWith("configYaml:") ? fault("parse_error", message, { details, hint }) : error;
}

export const PROJECT_CONFIG_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/roots/{rootId}/config",
    area: AREA,
    summary: "Read the text that a project configures itself with",
    operation: "manage_project_config",
    query: z.strictObject({
      fingerprint: z
        .string()
        .max(200)
        .optional()
        .describe("SHA-256 of another text: how does it relate to this one?"),
    }),
    conditional: true,
    success: [{ status: 200, description: "The text", schema: projectConfigDto }],
    refusals: ["RESOURCE_NOT_FOUND", "VALIDATION_ERROR"],
    toInput: ({ params, query }) => ({
      operation: "get",
      rootId: params["rootId"] ?? "",
      ...(query.fingerprint === undefined ? {} : { fingerprint: query.fingerprint }),
    }),
    toResponse: async (output, _request, run) => {
      const { nextOffset: _next, ...config } = await wholeText(run, output as GetConfigOutput);
      return { status: 200, body: config, headers: { etag: quoted(PREFIX + config.fingerprint) } };
    },
  }),
  route({
    method: "PUT",
    path: "/roots/{rootId}/config",
    area: AREA,
    summary: "Replace the text that a project configures itself with",
    operation: "manage_project_config",
    query: z.strictObject({
      force: z.boolean().default(false).describe("Even an older text, or one that names another root."),
    }),
    bodyRule: {
      kind: "text",
      mediaTypes: ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"],
      limitBytes: CONFIG_SIZE_MAX_BYTES,
    },
    ifMatch: "optional",
    idempotent: true,
    success: [{ status: 200, description: "It is stored, and counts from now on", schema: projectConfigDto }],
    refusals: ["RESOURCE_NOT_FOUND", "superseded", "rootid_mismatch", "parse_error", "etag_mismatch"],
    toInput: ({ params, query, body, actor, requestId, header }) => ({
      operation: "push",
      rootId: params["rootId"] ?? "",
      configYaml: String(body),
      force: query.force,
      expectedFingerprint: expectedOf(header("if-match")),
      actor,
      requestId,
    }),
    toResponse: (output) => {
      const { replayed, ...config } = output as PushConfigOutput;
      const headers = { etag: quoted(PREFIX + config.fingerprint), ...replayMark(replayed) };
      return { status: 200, body: config, headers };
    },
    refused: refusedText,
  }),
  route({
    method: "DELETE",
    path: "/roots/{rootId}/config",
    area: AREA,
    summary: "Remove a project's text; the server's own file counts from now on",
    operation: "delete_project_config",
    ifMatch: "optional",
    idempotent: true,
    success: [{ status: 204, description: "It is gone" }],
    refusals: ["RESOURCE_NOT_FOUND", "etag_mismatch"],
    toInput: ({ params, actor, requestId, header }) => ({
      rootId: params["rootId"] ?? "",
      expectedFingerprint: expectedOf(header("if-match")),
      actor,
      requestId,
    }),
    toResponse: ({ replayed }) => ({ status: 204, headers: replayMark(replayed) }),
    refused: refusedText,
  }),
];
