/** Every kind of MCP client that Muster promises to serve, behind one small interface. */
import { fileURLToPath } from "node:url";
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as CurrentStdio } from "@modelcontextprotocol/client/stdio";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as V1Stdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as V1Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Record<string, unknown>;
}

export interface McpClient {
  listTools(): Promise<string[]>;
  call(name: string, args: Record<string, unknown>): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export interface ClientKind {
  readonly name: string;
  connect(mcpUrl: string): Promise<McpClient>;
}

type Wire = "http" | "stdio";

const INFO = { name: "muster-tests", version: "1.0.0" };
const BRIDGE = fileURLToPath(new URL("stdio-bridge.ts", import.meta.url));

/** How a client starts the bridge. */
export function bridgeCommand(...urls: string[]): { command: string; args: string[]; stderr: "pipe" } {
  return { command: process.execPath, args: [BRIDGE, ...urls], stderr: "pipe" };
}

function v1(wire: Wire): ClientKind {
  return {
    name: `v1 client over ${wire}`,
    async connect(mcpUrl) {
      const client = new V1Client(INFO);
      const transport = wire === "http" ? new V1Http(new URL(mcpUrl)) : new V1Stdio(bridgeCommand(mcpUrl));
      await client.connect(transport);
      return wrap(client);
    },
  };
}

const ERAS = { legacy: "legacy", auto: "auto", "pinned 2026-07-28": { pin: "2026-07-28" } } as const;

function v2(era: keyof typeof ERAS, wire: Wire): ClientKind {
  return {
    name: `v2 client ${era} over ${wire}`,
    async connect(mcpUrl) {
      const client = new CurrentClient(INFO, { versionNegotiation: { mode: ERAS[era] } });
      await client.connect(
        wire === "http" ? new CurrentHttp(new URL(mcpUrl)) : new CurrentStdio(bridgeCommand(mcpUrl)),
      );
      return wrap(client);
    },
  };
}

/** All of them: both packages, all eras, both transports. */
export const CLIENT_KINDS: readonly ClientKind[] = (["http", "stdio"] as const).flatMap((wire) => [
  v1(wire),
  v2("legacy", wire),
  v2("auto", wire),
  v2("pinned 2026-07-28", wire),
]);

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

function wrap(client: AnyClient): McpClient {
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args) {
      const answer = (await client.callTool({ name, arguments: args })) as {
        isError?: boolean;
        content?: { text?: string }[];
        structuredContent?: Record<string, unknown>;
      };
      return {
        isError: answer.isError === true,
        text: answer.content?.[0]?.text ?? "",
        structured: answer.structuredContent ?? {},
      };
    },
    close: () => client.close(),
  };
}
