/**
 * MCP over stdio, for clients that start their servers as child processes.
 *
 * The process holds no work of its own: it answers `initialize` itself, exactly as the
 * HTTP door does, and passes tools/list and tools/call on to a running Muster. Its
 * session is made once per process and sent along with every call, so a claim survives
 * a reconnect and a change of replica. Standard output belongs to the protocol.
 */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { errorBody, errorText, isMusterError } from "../../contract/errors.ts";
import { OPERATIONS } from "../../contract/registry.ts";
import type { ReadItem } from "./item-resources.ts";
import { createMusterLink, type MusterLink } from "./muster-link.ts";
import { createProtocolServer, serverInfo, unknownTool, type ToolHandlers } from "./protocol-server.ts";
import { createToolbox, TOOLSETS } from "./tools.ts";

export interface StdioBridgeOptions {
  /** Addresses of Muster, tried in turn. */
  readonly urls: readonly string[];
  readonly version: string;
  readonly token?: string;
  /** Says what happens; must not write to standard output. */
  readonly note: (message: string) => void;
  readonly fetch?: typeof fetch;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

export interface StdioBridge {
  /** Resolves when the client has closed our standard input: the process should end then. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Starts to serve the client at the other end of standard input. */
export function serveStdioBridge(options: StdioBridgeOptions): StdioBridge {
  const { stdin = process.stdin, stdout = process.stdout, note } = options;
  const link = createMusterLink({
    urls: options.urls,
    session: `stdio-${randomUUID()}`,
    token: options.token,
    fetch: options.fetch ?? fetch,
  });
  const handlers = bridgeHandlers(link, options);
  const info = serverInfo(options.version);
  const closed = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stdin.once(event, () => resolve());
  });
  const handle = serveStdio(() => createProtocolServer(info, handlers), {
    transport: new StdioServerTransport(stdin, stdout),
    onerror: (error) => note(error.message),
  });
  return { closed, close: () => handle.close() };
}

function bridgeHandlers(link: MusterLink, { urls, note }: StdioBridgeOptions): ToolHandlers {
  const operations = new Map(OPERATIONS.map((operation) => [operation.name, operation]));
  return {
    async list({ client, signal }) {
      try {
        const result = await link.send({
          method: "tools/list",
          params: {},
          client,
          repeatable: true,
          patient: false,
          signal,
        });
        return { tools: result["tools"] as Tool[] };
      } catch (error) {
        if (!isMusterError(error)) throw error;
        // Clients drop a server that lists nothing; with our own list they find it working once Muster runs.
        note(`${error.message} Listing the tools of this version.`);
        return createToolbox().list(toolsetOf(urls[0]));
      }
    },
    async call(name, args, call) {
      // Also keeps what is no tool name out of the header that repeats it.
      if (!/^[\w.-]{1,128}$/.test(name)) throw unknownTool(name);
      const params = args === undefined ? { name } : { name, arguments: args };
      const readOnly = operations.get(name)?.annotations.readOnlyHint === true;
      try {
        return (await link.send({
          method: "tools/call",
          params,
          ...call,
          repeatable: readOnly || hasRequestId(args),
          patient: true,
        })) as CallToolResult;
      } catch (error) {
        if (!isMusterError(error)) throw error;
        note(error.message);
        return {
          isError: true,
          content: [{ type: "text", text: errorText(error) }],
          structuredContent: { error: errorBody(error) },
        };
      }
    },
    resources: {
      // Nothing is listened to through this process, so it does not say that one could.
      listening: false,
      read: async (uri, call) =>
        (await link.send({
          method: "resources/read",
          params: { uri },
          ...call,
          repeatable: true,
          patient: true,
        })) as unknown as ReadItem,
    },
  };
}

function toolsetOf(url: string | undefined) {
  const asked = url === undefined ? null : new URL(url).searchParams.get("toolset");
  return TOOLSETS.find((toolset) => toolset === asked) ?? "all";
}

function hasRequestId(args: unknown): boolean {
  return typeof (args as { requestId?: unknown } | undefined)?.requestId === "string";
}
