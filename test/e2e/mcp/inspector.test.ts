/** The MCP Inspector's command line: what a person uses to look whether a server works. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../support/server.ts";

const INSPECTOR = fileURLToPath(new URL("../../../node_modules/.bin/mcp-inspector", import.meta.url));
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
});
afterAll(() => server.close());

/** Rejects when the Inspector's exit code says that something is wrong. */
async function inspect(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [INSPECTOR, "--cli", server.mcpUrl, "--transport", "http", "--format", "json", ...args],
    // Its secret store would ask for the keychain of this machine.
    { env: { PATH: process.env["PATH"], HOME: tmpdir(), MCP_INSPECTOR_SECRET_STORE: "memory" } },
  );
  const { result } = JSON.parse(stdout) as { result: Record<string, unknown> };
  return result;
}

describe.each(["legacy", "modern"])("the MCP Inspector in the %s era", (era) => {
  it("lists the tools, and finds no fault with their schemas", async () => {
    const result = await inspect("--protocol-era", era, "--method", "tools/list", "--strict");
    const { tools } = result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain("claim_item");
  });

  it("calls a tool", async () => {
    const args = {
      operation: "create",
      actor: { id: "inspector", kind: "user" },
      requestId: randomUUID(),
      items: [{ title: "Look around" }],
    };
    const call = [
      "--method",
      "tools/call",
      "--tool-name",
      "manage_items",
      "--tool-args-json",
      JSON.stringify(args),
    ];
    const answer = await inspect("--protocol-era", era, ...call);
    expect(answer).toMatchObject({ structuredContent: { items: [{ title: "Look around", role: "queue" }] } });
  });
});
