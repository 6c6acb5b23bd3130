/** Muster's entry in the files of MCP clients: merged, the same the second time, and never at the cost of what is there. */
import { describe, expect, it } from "vitest";
import { findClient, MCP_CLIENTS, type McpClient } from "../../../services/cli/mcp/clients.ts";
import { withJsonEntry, withoutJsonEntry } from "../../../services/cli/mcp/json-file.ts";
import { withoutTomlEntry, withTomlEntry } from "../../../services/cli/mcp/toml-file.ts";

const entry = {
  command: "/usr/bin/node",
  args: ["/opt/muster.ts", "mcp"],
  env: { MUSTER_DATA_DIR: "/data" },
};

function client(name: string): McpClient {
  const found = findClient(name);
  if (found === undefined) throw new Error(`no client ${name}`);
  return found;
}

describe("a JSON file", () => {
  it("keeps other servers, other keys and its own layout", () => {
    const before = '{\n    "theme": "dark",\n    "mcpServers": { "other": { "command": "x" } }\n}\n';
    const after = withJsonEntry(before, client("cursor"), entry);
    expect(JSON.parse(after)).toEqual({
      theme: "dark",
      mcpServers: { other: { command: "x" }, muster: entry },
    });
    expect(after).toContain('\n    "theme"');
    expect(withJsonEntry(after, client("cursor"), entry)).toBe(after);
    expect(JSON.parse(withoutJsonEntry(after, client("cursor")))).toEqual({
      theme: "dark",
      mcpServers: { other: { command: "x" } },
    });
  });

  it("keeps what somebody added to the entry itself", () => {
    const before = JSON.stringify({
      mcpServers: { muster: { command: "old", disabled: true, env: { LANG: "C" } } },
    });
    expect(JSON.parse(withJsonEntry(before, client("windsurf"), entry))).toEqual({
      mcpServers: { muster: { ...entry, disabled: true, env: { LANG: "C", ...entry.env } } },
    });
  });

  it("is made where there was none, and says stdio where a client asks for it", () => {
    expect(JSON.parse(withJsonEntry(null, client("vs-code"), entry))).toEqual({
      servers: { muster: { type: "stdio", ...entry } },
    });
  });

  it.each([
    ["comments", '{ // mine\n "mcpServers": {} }'],
    ["half of it", '{ "mcpServers": {'],
    ["a list", "[]"],
    ["servers as a list", '{ "mcpServers": [] }'],
  ])("with %s is left alone", (_, text) => {
    expect(() => withJsonEntry(text, client("cursor"), entry)).toThrow(/JSON|object/);
    expect(() => withoutJsonEntry(text, client("cursor"))).toThrow(/JSON|object/);
  });
});

describe("a TOML file", () => {
  const codex = client("codex");
  const OURS = `[mcp_servers.muster]
command = "/usr/bin/node"
args = ["/opt/muster.ts","mcp"]

[mcp_servers.muster.env]
MUSTER_DATA_DIR = "/data"
`;
  const THEIRS = `# mine
model = "o3" # the good one
notify = [
  "a", # with a ] in a comment
  "b]",
]
text = """
[mcp_servers.muster]
not = "a table"
"""

[mcp_servers.other]
command = 'C:\\x'
env = { A = "1" }

[[profiles]]
name = "x"
`;

  it("is edited in place: comments, order and strings that look like tables stay", () => {
    const after = withTomlEntry(THEIRS, codex, entry);
    expect(after).toBe(`${THEIRS}\n${OURS}`);
    expect(withTomlEntry(after, codex, entry)).toBe(after);
    expect(withoutTomlEntry(after, codex)).toBe(THEIRS);
  });

  it("is made where there was none, and has nothing to take away twice", () => {
    expect(withTomlEntry(null, codex, entry)).toBe(OURS);
    expect(withoutTomlEntry(OURS, codex)).toBe("");
    expect(withoutTomlEntry(THEIRS, codex)).toBe(THEIRS);
  });

  it("keeps what somebody added to the entry, and changes its own keys alone", () => {
    const before = `[mcp_servers.muster]\ncommand = "old"\nstartup_timeout_sec = 30\n\n[mcp_servers."muster".env]\nLANG = "C"\n[after]\nx = 1\n`;
    const after = withTomlEntry(before, codex, entry);
    expect(after).toContain('command = "/usr/bin/node"\n');
    expect(after).not.toContain('"old"');
    expect(after).toContain("startup_timeout_sec = 30");
    expect(after).toContain(
      '[mcp_servers."muster".env]\nMUSTER_DATA_DIR = "/data"\nLANG = "C"\n[after]\nx = 1\n',
    );
    expect(withTomlEntry(after, codex, entry)).toBe(after);
  });

  it.each([
    ["a line that is none", "model = \n"],
    ["an open string", 'model = "x\n'],
    ["an open list", "a = [1,\n"],
    ["the servers inline", 'mcp_servers = { muster = { command = "x" } }\n'],
    ["the entry inline", '[mcp_servers]\nmuster = { command = "x" }\n'],
    ["dotted keys", 'mcp_servers.muster.command = "x"\n'],
    ["its env inline", '[mcp_servers.muster]\nenv = { A = "1" }\n'],
  ])("with %s is left alone", (_, text) => {
    expect(() => withTomlEntry(text, codex, entry)).toThrow(/TOML|form/);
  });
});

it("every client has a name, and a file below the home or the folder", () => {
  for (const one of MCP_CLIENTS) {
    expect(findClient(one.name.toUpperCase())).toBe(one);
    expect(one.file("/at-home", "/project", "linux")).toMatch(/^\/(at-home|project)\//);
    expect(one.file("/at-home", "/project", "darwin")).toMatch(/^\/(at-home|project)\//);
  }
});
