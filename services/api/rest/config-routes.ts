/** What is configured for all, and what for a project. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { fault } from "../../contract/errors.ts";
import * as fields from "../../contract/fields.ts";
import {
  configuredGraph,
  configuredSchema,
  configuredTrait,
  describeConfig,
  type DescribeConfigOutput,
} from "../../contract/operations/describe-config.ts";
import { configSnapshotDto } from "../../contract/rest/config-dtos.ts";
import { quoted } from "./etag.ts";
import { type RestAnswer, type Route, route } from "./route.ts";

const AREA = "Configuration";

const query = z.strictObject({
  rootId: fields.itemRef
    .optional()
    .describe("As this project sees it; else what the server's own file says."),
});

function tagged({ fingerprint, globalFingerprint, rootId }: DescribeConfigOutput, body: unknown): RestAnswer {
  const both =
    rootId === undefined
      ? (fingerprint ?? "none")
      : `${fingerprint ?? "none"}.${globalFingerprint ?? "none"}`;
  return { status: 200, body, headers: { etag: quoted(`cfg-${both}`) } };
}

/** A row that shows one part of what is configured. */
function part(
  path: string,
  summary: string,
  schema: z.ZodType,
  pick: (config: DescribeConfigOutput) => unknown,
): Route {
  return route({
    method: "GET",
    path,
    area: AREA,
    summary,
    operation: "describe_config",
    query,
    conditional: true,
    success: [{ status: 200, description: summary, schema }],
    refusals: ["RESOURCE_NOT_FOUND", "config_unavailable"],
    toInput: (request) => ({ ...request.query }),
    toResponse: (config) => tagged(config, pick(config)),
  });
}

export const CONFIG_ROUTES: readonly Route[] = [
  part("/config", "What is configured, in short", configSnapshotDto, (config) => ({
    fingerprint: config.fingerprint,
    types: config.schemas.map((one) => one.type),
    traits: config.traits.map((one) => one.name),
    statusLabels: config.statusLabels,
    noteLimits: config.noteLimits,
    independence: config.independence,
  })),
  part("/config/schemas", "The schemas that types name", z.array(configuredSchema), ({ schemas }) => schemas),
  part("/traits", "The traits that items and schemas name", z.array(configuredTrait), ({ traits }) => traits),
  part("/types", "The names of the types that have a schema", z.array(z.string()), ({ schemas }) =>
    schemas.map((one) => one.type),
  ),
  part(
    "/status-graph",
    "Where each trigger leads from each role, by type",
    configuredGraph,
    ({ statusGraph }) => statusGraph,
  ),
  route({
    method: "GET",
    path: "/schemas/{type}",
    area: AREA,
    summary: "The schema that a type names",
    operation: "describe_config",
    query,
    conditional: true,
    success: [{ status: 200, description: "The schema", schema: configuredSchema }],
    refusals: ["RESOURCE_NOT_FOUND", "config_unavailable"],
    toInput: (request) => ({ ...request.query }),
    toResponse: (config, { params }) => {
      const type = params["type"] ?? "";
      const schema = config.schemas.find((one) => one.type === type);
      if (schema !== undefined) return tagged(config, schema);
      throw fault("RESOURCE_NOT_FOUND", `no schema is configured for the type ${type.slice(0, 100)}`, {
        hint: "GET /types lists those that have one; case counts.",
      });
    },
  }),
  route({
    method: "GET",
    path: "/roots/{rootId}/config/effective",
    area: AREA,
    summary: "What the project's text and the server's say together",
    operation: "describe_config",
    conditional: true,
    success: [{ status: 200, description: "Everything that counts for it", schema: describeConfig.output }],
    refusals: ["RESOURCE_NOT_FOUND", "config_unavailable"],
    toInput: ({ params }) => ({ rootId: params["rootId"] }),
    toResponse: (config) => {
      const mark = createHash("sha256").update(JSON.stringify(config)).digest("hex").slice(0, 16);
      return { status: 200, body: config, headers: { etag: quoted(`eff-${mark}`) } };
    },
  }),
];
