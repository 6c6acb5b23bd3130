/**
 * Addresses that say something about the server itself and run no operation. Those that are
 * public are answered before anybody is asked who they are: who has no token yet must be able
 * to find out how to get one.
 */
import { z } from "zod";
import { answer } from "../../contract/answers.ts";
import { SCHEMA_FEATURES } from "../../contract/schema-answer.ts";

export interface ServerFacts {
  readonly version: string;
  readonly live: boolean;
}

export interface StaticRoute {
  /** The whole path. */
  readonly path: string;
  readonly summary: string;
  readonly isPublic: boolean;
  readonly schema: z.ZodType;
  body(facts: ServerFacts): unknown;
}

const FEATURES = [
  ...SCHEMA_FEATURES,
  "claims",
  "rules",
  "effective_config",
  "gate_preview",
  "idempotency_keys",
  "resource_leases",
];

const information = answer({
  name: z.string(),
  version: z.string(),
  apiVersion: z.string(),
  features: z.array(z.string()),
});

export const API_VERSION = "1.0";

/** What describes the API, for who has no token yet. */
const DESCRIPTIONS = ["/api/v1/openapi.json", "/api/v1/docs"];

export const STATIC_ROUTES: readonly StaticRoute[] = [
  {
    path: "/.well-known/mcp-task-orchestrator.json",
    summary: "Where this server's doors are",
    isPublic: true,
    schema: answer({
      name: z.string(),
      version: z.string(),
      apiVersion: z.string(),
      api: answer({ base: z.string(), openapi: z.string(), health: z.string() }),
      mcp: answer({ path: z.string() }),
    }),
    body: ({ version }) => ({
      name: "muster",
      version,
      apiVersion: API_VERSION,
      api: { base: "/api/v1", openapi: "/api/v1/openapi.json", health: "/api/v1/health" },
      mcp: { path: "/mcp" },
    }),
  },
  {
    path: "/api/v1/health",
    summary: "Whether the process runs",
    isPublic: true,
    schema: answer({ status: z.enum(["ok", "down"]) }),
    body: ({ live }) => ({ status: live ? "ok" : "down" }),
  },
  {
    path: "/api/v1/info",
    summary: "What runs here, and what clients may count on",
    isPublic: false,
    schema: information,
    body: ({ version }) => ({ name: "muster", version, apiVersion: API_VERSION, features: FEATURES }),
  },
];

/** Paths that answer whoever asks. */
export const PUBLIC_PATHS: readonly string[] = [
  ...DESCRIPTIONS,
  ...STATIC_ROUTES.filter((row) => row.isPublic).map((row) => row.path),
];
