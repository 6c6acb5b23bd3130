/** The gate in front of every door, asked over HTTP as clients ask. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, type GuardedServer, startGuardedServer } from "../../support/guarded-server.ts";
import { callTool, initialize, legacy, modern, send } from "../../support/raw-mcp.ts";

interface Created {
  readonly items: readonly { readonly id: string }[];
}

let server: GuardedServer;
beforeAll(async () => {
  server = await startGuardedServer();
});
afterAll(() => server.close());

const challengeOf = (answer: { headers: Record<string, unknown> }): string =>
  String(answer.headers["www-authenticate"]);

describe("without a credential", () => {
  it("MCP answers 401 with where the metadata is and which scopes there are, in the header and readable in the body [P-35]", async () => {
    for (const speak of [legacy, modern]) {
      const answer = await speak(server.mcpUrl, "tools/list");
      expect(answer.status).toBe(401);
      const challenge = challengeOf(answer);
      expect(challenge).toMatch(/^Bearer realm="muster", scope="muster:read .*muster:claim"/);
      expect(challenge).toContain(
        `resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"`,
      );
      expect(challenge).not.toContain("error=");
      const { error } = answer.json();
      expect(error?.data).toMatchObject({ code: "unauthenticated" });
      expect(error?.message).toContain("muster token create");
    }
  });

  it("REST answers 401 as a problem, with the same challenge", async () => {
    const answer = await send(`${server.url}/api/v1/claims`, { method: "GET" });
    expect(answer.status).toBe(401);
    expect(answer.headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(answer.text)).toMatchObject({ error: "unauthenticated", status: 401 });
    expect(challengeOf(answer)).toContain(`${server.url}/.well-known/oauth-protected-resource"`);
  });

  it("a path that does not exist is not told from one that does", async () => {
    const answer = await send(`${server.url}/api/v1/no-such-thing`, { method: "GET" });
    expect(answer.status).toBe(401);
  });

  it("the metadata is at both places, and names the issuer and every scope", async () => {
    const read = async (path: string): Promise<Record<string, unknown>> =>
      (await (await fetch(`${server.url}${path}`)).json()) as Record<string, unknown>;
    const ofMcp = await read("/.well-known/oauth-protected-resource/mcp");
    expect(ofMcp).toMatchObject({
      resource: server.mcpUrl,
      authorization_servers: [server.issuer.issuer],
      bearer_methods_supported: ["header"],
    });
    expect(ofMcp["scopes_supported"]).toContain("muster:admin");
    expect(await read("/.well-known/oauth-protected-resource")).toMatchObject({ resource: server.url });
  });

  it("the page and the probes answer, and tell nothing about the work", async () => {
    const page = await fetch(server.url, { headers: { accept: "application/json" } });
    expect(page.status).toBe(200);
    expect(await page.json()).toMatchObject({ counts: {} });
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  it("eight megabytes are refused for who sends them, and with a token for their size [P-37]", async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, " ");
    const headers = { "content-type": "application/json" };
    expect((await send(server.mcpUrl, { headers, body })).status).toBe(401);
    const { token } = await server.token({});
    const answer = await send(server.mcpUrl, { headers: { ...headers, ...bearer(token) }, body });
    expect(answer.status).toBe(413);
    expect(answer.json().error).toMatchObject({ code: -32600, data: { limit_bytes: 4_194_304 } });
  });
});

describe("a token", () => {
  it("opens both doors for what it may do", async () => {
    const { token } = await server.token({ capabilities: ["read", "claim"] });
    const session = await initialize(server.mcpUrl, bearer(token));
    const list = await legacy(
      server.mcpUrl,
      "tools/list",
      {},
      { ...bearer(token), "mcp-session-id": session },
    );
    expect(list.status).toBe(200);
    const claims = await fetch(`${server.url}/api/v1/claims`, { headers: bearer(token) });
    expect(claims.status).toBe(200);
  });

  it.each([
    ["nobody made", "Bearer muster_aaaaaaaa_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "invalid_token"],
    ["is not of ours", "Bearer something", "invalid_token"],
    ["comes in another scheme", "Basic YTpi", "invalid_request"],
    ["comes with more", "Bearer a b", "invalid_request"],
  ])("that %s is refused with 401", async (_, authorization, error) => {
    const answer = await modern(server.mcpUrl, "tools/list", {}, { authorization });
    expect(answer.status).toBe(401);
    expect(challengeOf(answer)).toContain(`error="${error}"`);
  });

  it("with one character changed is refused like one that nobody made", async () => {
    const { token, tokenId } = await server.token({});
    const changed = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    const answer = await modern(server.mcpUrl, "tools/list", {}, bearer(changed));
    expect(answer.status).toBe(401);
    expect(answer.text).toContain("it is not known here");
    expect(answer.text).not.toContain(tokenId);
  });

  it("that is revoked or rotated opens nothing from the next call on", async () => {
    const first = await server.token({});
    expect((await modern(server.mcpUrl, "tools/list", {}, bearer(first.token))).status).toBe(200);
    const { tokenId } = first;
    const rotated = (await server.muster.call("rotate_token", { tokenId })) as { token: string };
    expect((await modern(server.mcpUrl, "tools/list", {}, bearer(first.token))).status).toBe(401);
    expect((await modern(server.mcpUrl, "tools/list", {}, bearer(rotated.token))).status).toBe(200);
    await server.muster.call("revoke_token", { tokenId });
    const answer = await modern(server.mcpUrl, "tools/list", {}, bearer(rotated.token));
    expect(answer.status).toBe(401);
    expect(challengeOf(answer)).toContain('error_description="it was revoked"');
  });

  it("ends at its day, and says so", async () => {
    const { token } = await server.token({ expiresInDays: 1 });
    await server.database.advance(86_400_000 - 5_000);
    expect((await modern(server.mcpUrl, "tools/list", {}, bearer(token))).status).toBe(200);
    await server.database.advance(5_000);
    const answer = await modern(server.mcpUrl, "tools/list", {}, bearer(token));
    expect(answer.status).toBe(401);
    expect(challengeOf(answer)).toContain('error_description="it has expired"');
  });

  it("that may only read gets the refusal of a write as the answer of the tool, and nothing is written [P-11] [P-36]", async () => {
    const { token } = await server.token({ capabilities: ["read"] });
    const made = (await server.muster.call("manage_items", {
      operation: "create",
      items: [{ title: "stays free", tags: "p-11" }],
    })) as Created;
    const args = {
      actor: { id: "ann", kind: "subagent" },
      requestId: randomUUID(),
      claims: [{ selector: { tags: "p-11" } }],
    };
    for (const era of ["legacy", "modern"] as const) {
      const answer = await callTool(era, server.mcpUrl, "claim_item", args, bearer(token));
      expect(answer.status).toBe(200);
      const { result } = answer.json();
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { error: { code: "insufficient_scope", details: { required: ["muster:claim"] } } },
      });
    }
    const itemId = made.items[0]?.id;
    expect(await server.muster.call("query_items", { operation: "get", itemId })).toMatchObject({
      isClaimed: false,
    });
  });

  it("bound to an agent speaks for nobody else, and needs not say its name", async () => {
    const { token } = await server.token({ capabilities: ["read", "write-items"], agentId: "ann" });
    const create = { operation: "create", items: [{ title: "hers" }] };
    const other = { ...create, actor: { id: "bob", kind: "subagent" } };
    const refused = await callTool("modern", server.mcpUrl, "manage_items", other, bearer(token));
    expect(refused.json().result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "rejected_by_policy" } },
    });
    const answer = await callTool("modern", server.mcpUrl, "manage_items", create, bearer(token));
    const created = answer.json().result?.structuredContent as unknown as Created;
    const rows = await server.database.db
      .selectFrom("items")
      .select("created_by")
      .where("id", "=", created.items[0]?.id ?? "")
      .execute();
    expect(rows).toEqual([{ created_by: "ann" }]);
  });
});

describe("when the database cannot be asked", () => {
  it("a token is answered with 503 and never with 401, so that nobody throws it away [P-35]", async () => {
    let close = (): Promise<void> => Promise.resolve();
    const other = await startGuardedServer({
      database: "pg",
      lookUpIn: async (database) => {
        const another = await database.openAnother();
        close = () => another.close();
        return another;
      },
    });
    try {
      const { token } = await other.token({});
      const before = await other.token({ name: "before" });
      expect((await modern(other.mcpUrl, "tools/list", {}, bearer(before.token))).status).toBe(200);
      await close();
      const answer = await modern(other.mcpUrl, "tools/list", {}, bearer(token));
      expect(answer.status).toBe(503);
      expect(answer.headers["retry-after"]).toBe("1");
      expect(answer.headers["www-authenticate"]).toBeUndefined();
      expect(answer.json().error?.data).toMatchObject({ code: "unavailable", kind: "transient" });
    } finally {
      await other.close();
    }
  });
});
