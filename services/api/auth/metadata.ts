/** The metadata of RFC 9728: which authorization servers give tokens for this server, and for which scopes. */
import { CAPABILITIES } from "../../contract/operation.ts";
import { scopeOf } from "../../engine/access.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendJson } from "../http/reply.ts";

/** Below the address of the server; `/mcp` behind it names the door for agents. */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

export interface Metadata {
  /** Answers the request if it asks for one of the two documents. */
  answer(exchange: Exchange): boolean;
}

export function createMetadata(baseUrl: () => string, authorizationServers: readonly string[]): Metadata {
  return {
    answer({ path, response }) {
      const resource = resourceAt(path, baseUrl());
      if (resource === null) return false;
      // Clients in browsers look here before they have anything to be known by.
      sendJson(response, 200, JSON.stringify(documentOf(resource, authorizationServers)), {
        "access-control-allow-origin": "*",
        "cache-control": "public, max-age=3600",
      });
      return true;
    },
  };
}

function resourceAt(path: string, baseUrl: string): string | null {
  if (path === METADATA_PATH) return baseUrl;
  return path === `${METADATA_PATH}/mcp` ? `${baseUrl}/mcp` : null;
}

function documentOf(
  resource: string,
  authorizationServers: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    resource,
    ...(authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers }),
    scopes_supported: CAPABILITIES.map(scopeOf),
    bearer_methods_supported: ["header"],
    resource_name: "Muster",
  };
}
