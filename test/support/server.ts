/** A real HTTP server of ours on a free port, for tests that speak to it as clients do. */
import type { DatabaseKind } from "../../db/open.ts";
import { createApi, type Api, type ApiAuth, type ApiConfig } from "../../services/api/create-api.ts";
import type { About } from "../../services/api/rest/status-page.ts";
import type { Engine } from "../../services/engine/engine.ts";
import { createHealth, type Check } from "../../services/runtime/health.ts";
import { createLog } from "../../services/runtime/log.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { createTestEngine } from "./engine.ts";

export const TEST_VERSION = "0.0.0-test";
/** Replicas of one fleet share it; a test that wants strangers passes another. */
const TEST_SECRET = "a secret of this test fleet, and of no other";

export interface TestServer {
  readonly url: string;
  readonly mcpUrl: string;
  readonly engine: Engine;
  readonly api: Api;
  /** Lines of the server's log, as JSON. */
  readonly logLines: string[];
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly config?: Partial<ApiConfig>;
  /** What `/readyz` looks at. */
  readonly checks?: Readonly<Record<string, Check>>;
  readonly about?: Partial<About>;
  /** Who may call; anybody without. */
  readonly auth?: ApiAuth;
}

/** Serves an engine that the test owns; closing leaves the engine open. */
export async function serveEngine(engine: Engine, options: TestServerOptions = {}): Promise<TestServer> {
  const logLines: string[] = [];
  const health = createHealth({ checks: options.checks ?? {} });
  const api = createApi({
    engine,
    log: createLog({
      service: "api",
      level: "debug",
      destination: { write: (line) => void logLines.push(line) },
    }),
    config: {
      host: "127.0.0.1",
      port: 0,
      allowedHosts: [],
      secretKey: TEST_SECRET,
      version: TEST_VERSION,
      ...options.config,
    },
    health,
    ...(options.auth !== undefined && { auth: options.auth }),
    about: {
      mode: "alone",
      data: "a test",
      nextSteps: ["muster status"],
      counts: () => Promise.resolve({ items: 0, claims: 0 }),
      ...options.about,
    },
  });
  const { url } = await api.listen();
  health.started();
  return { url, mcpUrl: `${url}/mcp`, engine, api, logLines, close: () => api.close(1_000) };
}

export interface RealServer extends TestServer {
  readonly database: TestDatabase;
  /** Another API over the same engine, as a second replica would be for its clients. */
  serveAnother(): Promise<TestServer>;
}

/** The whole product but its process: a database of its own, the engine, and the API before it. */
export async function startTestServer({
  database: kind,
  ...options
}: TestServerOptions & { readonly database: DatabaseKind }): Promise<RealServer> {
  const database = await createTestDatabase({ kind });
  const { engine, close: closeEngine } = createTestEngine(database);
  const server = await serveEngine(engine, options);
  const servers = [server];
  return {
    ...server,
    database,
    async serveAnother() {
      const another = await serveEngine(engine, options);
      servers.push(another);
      return another;
    },
    async close() {
      await Promise.all(servers.map((one) => one.close()));
      await closeEngine();
      await database.close();
    },
  };
}
