/**
 * Every client that is promised to work does the whole of an agent's day: find the
 * tools, plant an item, claim it, lose the connection, go on by workerId, hand it in.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operationsOf } from "../../../services/contract/registry.ts";
import { CLIENT_KINDS, type McpClient, type ToolAnswer } from "../../support/mcp-clients.ts";
import { startTestServer, type TestServer } from "../../support/server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
});
afterAll(() => server.close());

/** The answer of a call that must work; the text is what a model would see of a failure. */
async function succeed(client: McpClient, name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
  const answer = await client.call(name, { requestId: randomUUID(), ...args });
  expect(answer).toMatchObject({ isError: false });
  expect(answer.text).not.toBe("");
  return answer;
}

interface Claimed {
  readonly claims: readonly [{ readonly outcome: string; readonly itemId: string; readonly fence: number }];
  readonly workerId: string;
}

describe.each(CLIENT_KINDS)("$name", ({ name, connect }) => {
  it("creates, claims and starts, reconnects, and hands in", async () => {
    const actor = { id: `agent of ${name}`, kind: "subagent" };
    const tags = randomUUID();
    const first = await connect(server.mcpUrl);
    expect(await first.listTools()).toEqual(operationsOf("all").map((operation) => operation.name));

    await succeed(first, "manage_items", {
      operation: "create",
      actor,
      items: [{ title: `Work of ${name}`, tags }],
    });
    const claimed = await succeed(first, "claim_item", {
      actor,
      claims: [{ selector: { tags }, start: true }],
    });
    const { claims, workerId } = claimed.structured as unknown as Claimed;
    const [{ outcome, itemId, fence }] = claims;
    expect(outcome).toBe("success");
    expect(claimed.text).toContain(itemId);
    expect(claimed.text).toContain(workerId);
    await first.close();

    const second = await connect(server.mcpUrl);
    const kept = await succeed(second, "claim_item", { actor, workerId, refreshes: [{ itemId, fence }] });
    expect(kept.structured).toMatchObject({ refreshes: [{ itemId, outcome: "success" }], workerId });
    const handedIn = await succeed(second, "advance_item", {
      actor,
      workerId,
      transitions: [{ itemId, trigger: "complete", fence, summary: "Done." }],
    });
    expect(handedIn.structured).toMatchObject({ results: [{ itemId, newRole: "terminal", applied: true }] });
    await second.close();
  });

  it("is told which argument was not declared, and nothing is written [P-31]", async () => {
    const tags = randomUUID();
    const client = await connect(server.mcpUrl);
    const create = {
      operation: "create",
      actor: { id: "planner", kind: "orchestrator" },
      requestId: randomUUID(),
    };
    const answer = await client.call("manage_items", {
      ...create,
      items: [{ title: "Red", tags, colour: "red" }],
    });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("colour");
    const claim = { actor: { id: `reader for ${name}`, kind: "subagent" }, claims: [{ selector: { tags } }] };
    const found = await succeed(client, "claim_item", claim);
    expect(found.structured).toMatchObject({ claims: [{ outcome: "queue_empty" }] });
    await client.close();
  });
});
