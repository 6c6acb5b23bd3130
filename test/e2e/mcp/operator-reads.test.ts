import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operationByName } from "../../../services/contract/registry.ts";
import { callTool, send } from "../../support/raw-mcp.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";

let server: RealServer;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
});
afterAll(() => server.close());

async function act(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { result } = (
    await callTool("modern", server.mcpUrl, name, { requestId: randomUUID(), ...args })
  ).json();
  expect(result?.isError).toBeUndefined();
  return result?.structuredContent ?? {};
}

/** Reads with the schema of the contract, so that a field it does not promise fails the test. */
async function read(operation: string, path: string): Promise<unknown> {
  const answer = await send(server.url + path, { method: "GET" });
  expect(answer.status).toBe(200);
  return operationByName.get(operation)?.output.parse(JSON.parse(answer.text));
}

describe("an operator who asks over REST", () => {
  it("sees who holds what, since when and until when, and a part of the session at most", async () => {
    const actor = { id: "agent-1", kind: "subagent" };
    const workerId = `worker-${randomUUID()}`;
    await act("manage_items", { operation: "create", actor, items: [{ title: "Held" }, { title: "Free" }] });
    await act("claim_item", { actor, workerId, claims: [{ selector: {}, start: true }] });

    const claims = await read("list_claims", "/api/v1/claims?limit=10&lapsed=false");
    expect(claims).toMatchObject({
      total: 1,
      hasMore: false,
      claims: [{ agent: "agent-1", role: "work", fence: 1 }],
    });
    expect(JSON.stringify(claims)).not.toContain(workerId);
    await expect
      .poll(() => read("list_agents", "/api/v1/agents?holding=true"))
      .toMatchObject({ agents: [{ agent: "agent-1", claims: 1 }] });
  });
});
