/**
 * The OpenAPI document, made from the route table and the error table. `docs/api/openapi.json`
 * is its committed copy; `npm run verify` fails when the two differ.
 */
import type { ErrorCode } from "../../contract/errors.ts";
import { restNameOf } from "./rest-codes.ts";
import { createComponents, PROBLEM, type Components, type Json } from "./openapi-schemas.ts";
import type { Route } from "./route.ts";
import { API_VERSION, STATIC_ROUTES, type StaticRoute } from "./static-routes.ts";

const BASE = "/api/v1";
/** What every operation may answer, whatever it is. */
const ALWAYS: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "unauthenticated",
  "insufficient_scope",
  "rate_limited",
  "unavailable",
];
const WITH_BODY: readonly ErrorCode[] = ["bad_request", "payload_too_large", "unsupported_media_type"];
const REPEATABLE: readonly ErrorCode[] = [
  "idempotency_mismatch",
  "idempotency_in_flight",
  "idempotency_target_gone",
];

/** The whole document. */
export function openApiDocument(routes: readonly Route[]): Json {
  const components = createComponents();
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of routes) {
    const path = BASE + row.path.replaceAll("+}", "}");
    (paths[path] ??= {})[row.method.toLowerCase()] = operationOf(row, components);
  }
  for (const row of STATIC_ROUTES) paths[row.path] = { get: staticOperation(row, components) };
  paths[`${BASE}/events`] = { get: EVENTS };
  return {
    openapi: "3.1.0",
    info: {
      title: "Muster REST API",
      version: API_VERSION,
      description:
        "Work items, claims, notes and configuration of a fleet of agents. Errors are RFC 9457 problems with error, message and details.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, {}],
    tags: [...new Set(routes.map((row) => row.area)), "Server"].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A token of `muster token create`, or a JWT.",
        },
      },
      schemas: { Problem: PROBLEM, ...components.schemas() },
    },
  };
}

/** The one address that answers with a stream (`events/event-streams.ts`), and runs no operation. */
const EVENTS: Json = {
  operationId: "getEvents",
  tags: ["Server"],
  summary: "Follow what happens, as server-sent events",
  description: "Needs the capability `read`. Goes on after the event that Last-Event-ID names.",
  parameters: [
    {
      name: "root",
      in: "query",
      required: false,
      description: "Only of this project; may be repeated.",
      schema: { type: "string" },
    },
    {
      name: "types",
      in: "query",
      required: false,
      description: "Only these, comma-separated.",
      schema: { type: "string" },
    },
    {
      name: "Last-Event-ID",
      in: "header",
      required: false,
      description: "The last one that was seen.",
      schema: { type: "string" },
    },
  ],
  responses: {
    "200": {
      description: "A stream that does not end",
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    default: problemResponse("Any error"),
  },
};

function operationOf(row: Route, components: Components): Json {
  return {
    operationId: operationId(row),
    tags: [row.area],
    summary: row.summary,
    description: `Runs \`${row.operation}\`. Needs the capability \`${row.capability}\`.`,
    parameters: [...pathParameters(row), ...queryParameters(row, components), ...headerParameters(row)],
    ...(row.bodyRule === undefined ? {} : { requestBody: bodyOf(row, row.bodyRule, components) }),
    responses: responsesOf(row, components),
  };
}

function staticOperation(row: StaticRoute, components: Components): Json {
  const words = row.path.split(/[^A-Za-z]+/).filter((word) => word !== "");
  return {
    operationId: ["get", ...words].map(capitalized).join("").replace(/^G/, "g"),
    tags: ["Server"],
    summary: row.summary,
    ...(row.isPublic ? { security: [{}] } : {}),
    responses: {
      "200": { description: row.summary, content: json(components.output(row.schema)) },
      default: problemResponse("Any other error"),
    },
  };
}

function operationId({ method, path }: Route): string {
  const words = path.split("/").flatMap((part) => part.replaceAll(/[{}+]/g, "").split(/[^A-Za-z]+/));
  return (
    method.toLowerCase() +
    words
      .filter((word) => word !== "")
      .map(capitalized)
      .join("")
  );
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function pathParameters({ path }: Route): Json[] {
  return [...path.matchAll(/\{(\w+)(\+?)\}/g)].map(([, name = "", rest]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1 },
    ...(rest === "" ? {} : { description: "May have slashes, escaped or not." }),
  }));
}

function queryParameters({ query, path }: Route, components: Components): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = components.input(query) as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (path.includes(`{${name}}`)) return [];
    const { description, ...rest } = schema;
    return [
      {
        name,
        in: "query",
        required: required.includes(name) && rest["default"] === undefined,
        ...(description === undefined ? {} : { description }),
        schema: rest,
      },
    ];
  });
}

function headerParameters({ ifMatch, conditional, idempotent }: Route): Json[] {
  const header = (name: string, required: boolean, description: string, schema: Json): Json => ({
    name,
    in: "header",
    required,
    description,
    schema,
  });
  const text = { type: "string" };
  return [
    ...(ifMatch === undefined
      ? []
      : [header("If-Match", ifMatch === "required", "The ETag as it was read, or *.", text)]),
    ...(conditional === true ? [header("If-None-Match", false, "ETags that are known already.", text)] : []),
    ...(idempotent === true
      ? [
          header("Idempotency-Key", false, "A UUID, new per call; repeat it only to retry.", {
            type: "string",
            format: "uuid",
          }),
        ]
      : []),
  ];
}

function bodyOf({ body }: Route, rule: NonNullable<Route["bodyRule"]>, components: Components): Json {
  const schema = rule.kind === "text" || body === undefined ? { type: "string" } : components.input(body);
  return {
    required: true,
    description: `At most ${rule.limitBytes} bytes.`,
    content: Object.fromEntries(rule.mediaTypes.map((type) => [type, { schema }])),
  };
}

function responsesOf(row: Route, components: Components): Json {
  const responses: Record<string, Json> = {};
  for (const { status, description, schema } of row.success) {
    responses[String(status)] = {
      description,
      ...headersOf(row),
      ...(schema === undefined ? {} : { content: json(components.output(schema)) }),
    };
  }
  if (row.conditional === true) responses["304"] = { description: "It is what the caller knows already" };
  const codes = new Map<number, Set<string>>();
  for (const code of codesOf(row)) {
    const { status, error } = restNameOf(code);
    codes.set(status, (codes.get(status) ?? new Set()).add(error));
  }
  for (const [status, names] of [...codes].toSorted(([a], [b]) => a - b))
    responses[String(status)] = problemResponse([...names].toSorted().join(", "));
  responses["default"] = problemResponse("Any other error");
  return responses;
}

function codesOf(row: Route): readonly ErrorCode[] {
  return [
    ...ALWAYS,
    ...row.refusals,
    ...(row.bodyRule === undefined ? [] : WITH_BODY),
    ...(row.idempotent === true ? REPEATABLE : []),
    ...(row.ifMatch === undefined ? [] : (["bad_request", "etag_mismatch"] as const)),
    ...(row.ifMatch === "required" ? (["precondition_required"] as const) : []),
  ];
}

function headersOf({ conditional, ifMatch, idempotent }: Route): Json {
  const text = { schema: { type: "string" } };
  const headers = {
    ...(conditional === true || ifMatch !== undefined ? { ETag: text } : {}),
    ...(idempotent === true
      ? { "Idempotency-Replayed": { ...text, description: "true: the answer of an earlier call" } }
      : {}),
  };
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function problemResponse(description: string): Json {
  return {
    description,
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}
