/** A real HTTP server whose door is guarded, on a database of its own, with a local issuer of access tokens. */
import type { DatabaseKind } from "../../db/open.ts";
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import type { Coordination } from "../../services/coordination/port.ts";
import type { RequestOf } from "../../services/contract/registry.ts";
import type { MintedToken } from "../../services/contract/tokens.ts";
import { actorAuthentication } from "../../services/contract/config/actor-authentication.ts";
import type { GateLimits } from "../../services/api/auth/gate.ts";
import { createDatabaseTime } from "../../services/engine/database-time.ts";
import { type Credentials, createCredentials } from "../../services/engine/tokens/credentials.ts";
import { createAccessTokens } from "../../services/verification/create-access-token-verifier.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { createTestEngine, type TestEngine } from "./engine.ts";
import { ALGORITHM, type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";
import { serveEngine, type TestServer, type TestServerOptions } from "./server.ts";

export interface GuardedServer extends TestServer {
  readonly muster: TestEngine;
  readonly database: TestDatabase;
  readonly issuer: IdentityProvider;
  readonly credentials: Credentials;
  /** Makes a token and answers its text. */
  token(input: Partial<RequestOf<"create_token">>): Promise<MintedToken>;
  /** An access token for this server with these scopes. */
  accessToken(scope: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface GuardedOptions extends TestServerOptions {
  readonly database?: DatabaseKind;
  readonly mode?: "token" | "jwt";
  readonly limits?: Partial<GateLimits>;
  readonly coordination?: Coordination;
  readonly trustedProxies?: number;
  /** The database that tokens are looked up in, if not the engine's. */
  readonly lookUpIn?: (database: TestDatabase) => Promise<Pick<TestDatabase, "db">>;
}

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

export async function startGuardedServer(options: GuardedOptions = {}): Promise<GuardedServer> {
  const { mode = "jwt", limits, coordination = createLocalCoordination() } = options;
  const database = await createTestDatabase({ kind: options.database ?? "pglite" });
  const issuer = await startIdentityProvider();
  const muster = createTestEngine(database, { coordination });
  const { db } = (await options.lookUpIn?.(database)) ?? database;
  let url = "";
  const accessTokens = createAccessTokens(
    { oidcDiscovery: issuer.discoveryUri, algorithms: [ALGORITHM], audience: () => [`${url}/mcp`, url] },
    actorAuthentication.parse(undefined).verifier,
    process.cwd(),
  );
  const credentials = createCredentials(
    { db, coordination, time: createDatabaseTime(database.db, 0, 60_000), log: SILENT },
    { accessTokens: mode === "jwt" ? accessTokens.verifier : null },
  );
  const server = await serveEngine(muster.engine, {
    ...options,
    auth: {
      mode,
      credentials,
      counters: coordination.counters,
      limits: { perCredential: null, perAddress: null, ...limits },
      trustedProxies: options.trustedProxies ?? 0,
      authorizationServers: mode === "jwt" ? accessTokens.authorizationServers : [],
    },
  });
  ({ url } = server);
  return {
    ...server,
    muster,
    database,
    issuer,
    credentials,
    token: async (input) =>
      (await muster.call("create_token", { name: "test", capabilities: ["read"], ...input })) as MintedToken,
    accessToken: (scope, claims = {}) =>
      issuer.sign({ aud: `${server.url}/mcp`, sub: "ann@example", scope, ...claims }),
    async close() {
      await server.close();
      credentials.close();
      await muster.close();
      await coordination.close();
      await issuer.stop();
      await database.close();
    },
  };
}

/** The header that a credential travels in. */
export function bearer(text: string): { readonly authorization: string } {
  return { authorization: `Bearer ${text}` };
}
