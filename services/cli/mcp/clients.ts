/** The MCP clients that Muster can be put into: where each keeps its servers, and in what form. */
import { join } from "node:path";

export interface McpClient {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly title: string;
  readonly format: "json" | "toml";
  /** The table of servers in the file. */
  readonly key: string;
  /** Fields that its entries have besides command, args and env. */
  readonly more?: Readonly<Record<string, string>>;
  /** Its file belongs to the folder one is in, and is shared with others: written only when it is named. */
  readonly project?: boolean;
  readonly file: (home: string, folder: string, platform: NodeJS.Platform) => string;
}

/** Where programs with a window keep their settings. */
function settingsOf(home: string, platform: NodeJS.Platform, ...path: string[]): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", ...path);
  if (platform === "win32") return join(home, "AppData", "Roaming", ...path);
  return join(home, ".config", ...path);
}

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: "claude-code",
    aliases: ["claude"],
    title: "Claude Code",
    format: "json",
    key: "mcpServers",
    project: true,
    file: (_, folder) => join(folder, ".mcp.json"),
  },
  {
    name: "claude-desktop",
    aliases: ["desktop"],
    title: "Claude Desktop",
    format: "json",
    key: "mcpServers",
    file: (home, _, platform) => settingsOf(home, platform, "Claude", "claude_desktop_config.json"),
  },
  {
    name: "cursor",
    aliases: [],
    title: "Cursor",
    format: "json",
    key: "mcpServers",
    file: (home) => join(home, ".cursor", "mcp.json"),
  },
  {
    name: "windsurf",
    aliases: [],
    title: "Windsurf",
    format: "json",
    key: "mcpServers",
    file: (home) => join(home, ".codeium", "windsurf", "mcp_config.json"),
  },
  {
    name: "vscode",
    aliases: ["vs-code", "code"],
    title: "VS Code",
    format: "json",
    key: "servers",
    more: { type: "stdio" },
    file: (home, _, platform) => settingsOf(home, platform, "Code", "User", "mcp.json"),
  },
  {
    name: "codex",
    aliases: [],
    title: "Codex",
    format: "toml",
    key: "mcp_servers",
    file: (home) => join(home, ".codex", "config.toml"),
  },
];

export function findClient(name: string): McpClient | undefined {
  const asked = name.toLowerCase();
  return MCP_CLIENTS.find((client) => client.name === asked || client.aliases.includes(asked));
}

/** What a client starts. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The name of Muster's entry in every file. */
export const ENTRY = "muster";

/** A file that is left as it is, since changing it might lose something. */
export class UnfitFile extends Error {}
