/**
 * The SDK's server object for one exchange (HTTP) or one connection (stdio). Both
 * transports and both protocol eras get theirs from here, so they cannot differ in
 * what they say about Muster.
 */
import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type Implementation,
  type jsonSchemaValidator,
  type ServerContext,
  type ServerOptions,
  type Tool,
} from "@modelcontextprotocol/server";
import { TOOL_SURFACE_VERSION } from "../../contract/tool-surface.ts";
import type { ClientLabel } from "../session.ts";
import { ITEM_TEMPLATE, type ReadItem } from "./item-resources.ts";
import { INSTRUCTIONS } from "./instructions.ts";

/** What the SDK knows about one request. */
interface Call {
  /** What the client calls itself, if it said so on this connection. */
  readonly client: ClientLabel | null;
  /** Aborted when the request was cancelled or its connection ended. */
  readonly signal: AbortSignal;
}

type Envelope = { readonly [CLIENT_INFO_META_KEY]?: Implementation } | undefined;

/** What a server does; both parts differ between the HTTP door and the stdio bridge. */
export interface ToolHandlers {
  list(call: Call): { readonly tools: Tool[] } | Promise<{ readonly tools: Tool[] }>;
  /** @throws ProtocolError for a tool that does not exist. */
  call(name: string, args: unknown, call: Call): Promise<CallToolResult>;
  /** Items as resources; a server without says nothing of any. */
  readonly resources?: {
    /** Only the 2026 era can listen over a transport that keeps nothing. */
    readonly listening: boolean;
    /** @throws ProtocolError for one that is not there. */
    read(uri: string, call: Call): Promise<ReadItem>;
  };
}

/** Lists change with a release, not with a caller: any cache may keep them for five minutes. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

// The SDK compiles a validator per server otherwise, for answers to questions that we never ask a client.
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator: () => () => ({
    valid: false,
    data: undefined,
    errorMessage: "Muster asks clients for nothing.",
  }),
};

const OPTIONS: ServerOptions = {
  instructions: INSTRUCTIONS,
  capabilities: { tools: {}, experimental: { muster: { toolSurface: TOOL_SURFACE_VERSION } } },
  cacheHints: { "tools/list": LIST_CACHE, "server/discover": LIST_CACHE },
  jsonSchemaValidator: NO_VALIDATOR,
};

/** How Muster introduces itself. */
export function serverInfo(version: string): Implementation {
  return { name: "muster", title: "Muster", version };
}

/** Makes a server that answers with the handlers; it belongs to one exchange or connection. */
export function createProtocolServer(info: Implementation, handlers: ToolHandlers): Server {
  const { resources } = handlers;
  const server = new Server(info, optionsFor(resources));
  const callOf = ({ mcpReq }: ServerContext): Call => {
    const envelope: Envelope = mcpReq.envelope;
    // The 2026 era says it with every request, the 2025 era once at `initialize`.
    const client = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
    return { client: labelOf(client), signal: mcpReq.signal };
  };
  server.setRequestHandler("tools/list", (_request, context) => handlers.list(callOf(context)));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    handlers.call(params.name, params.arguments, callOf(context)),
  );
  if (resources !== undefined) {
    server.setRequestHandler("resources/list", () => ({ resources: [] }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [ITEM_TEMPLATE] }));
    server.setRequestHandler("resources/read", ({ params }, context) =>
      resources.read(params.uri, callOf(context)),
    );
  }
  return server;
}

function optionsFor(resources: ToolHandlers["resources"]): ServerOptions {
  if (resources === undefined) return OPTIONS;
  const { capabilities, cacheHints } = OPTIONS;
  return {
    ...OPTIONS,
    capabilities: { ...capabilities, resources: resources.listening ? { subscribe: true } : {} },
    cacheHints: { ...cacheHints, "resources/templates/list": LIST_CACHE },
  };
}

function labelOf(info: Implementation | undefined): ClientLabel | null {
  return info === undefined ? null : { name: info.name, version: info.version };
}

/** The protocol's answer to a tool that is not in the list. */
export function unknownTool(name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 128)}`);
}
