/** Access tokens of an authorization server at the doors: what opens them, what does not, and how a client gets more. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, type GuardedServer, startGuardedServer } from "../../support/guarded-server.ts";
import { callTool, initialize, modern } from "../../support/raw-mcp.ts";
import { JWKS_PATH } from "../../support/identity-provider.ts";

let server: GuardedServer;
beforeAll(async () => {
  server = await startGuardedServer();
});
afterAll(() => server.close());

const list = (token: string) => modern(server.mcpUrl, "tools/list", {}, bearer(token));
const WRITE = { operation: "create", items: [{ title: "written" }] };

describe("an access token", () => {
  it("with the scope of an operation may call it, in both eras", async () => {
    const token = await server.accessToken("muster:read muster:write-items");
    await initialize(server.mcpUrl, bearer(token));
    for (const era of ["legacy", "modern"] as const) {
      const answer = await callTool(era, server.mcpUrl, "manage_items", WRITE, bearer(token));
      expect(answer.status).toBe(200);
      expect(answer.json().result?.isError).toBeUndefined();
    }
  });

  it("that may only read gets 403 on a write, with every scope that it needs in one challenge [P-36]", async () => {
    const token = await server.accessToken("muster:read");
    for (const era of ["legacy", "modern"] as const) {
      const answer = await callTool(era, server.mcpUrl, "manage_items", WRITE, bearer(token));
      expect(answer.status).toBe(403);
      const challenge = String(answer.headers["www-authenticate"]);
      expect(challenge).toContain('error="insufficient_scope"');
      expect(challenge).toContain('scope="muster:read muster:write-items"');
      expect(challenge).toContain("/.well-known/oauth-protected-resource/mcp");
      const { id, error } = answer.json();
      expect(id).toBe(1);
      expect(error?.data).toMatchObject({
        code: "insufficient_scope",
        details: { required: ["muster:write-items"] },
      });
    }
  });

  it("is asked for what the call needs, which may depend on what it says", async () => {
    const token = await server.accessToken("muster:read");
    const rootId = "00000000-0000-4000-8000-000000000000";
    const get = { operation: "get", rootId };
    expect(
      (await callTool("modern", server.mcpUrl, "manage_project_config", get, bearer(token))).status,
    ).toBe(200);
    const push = { operation: "push", rootId, configYaml: "" };
    const answer = await callTool("modern", server.mcpUrl, "manage_project_config", push, bearer(token));
    expect(answer.status).toBe(403);
    expect(answer.headers["www-authenticate"]).toContain("muster:write-config");
  });

  it("without any scope of Muster may do nothing, and is told on REST as well", async () => {
    const token = await server.accessToken("openid profile");
    const answer = await fetch(`${server.url}/api/v1/claims`, { headers: bearer(token) });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("www-authenticate")).toContain('scope="muster:read"');
    expect(await answer.json()).toMatchObject({ error: "insufficient_scope" });
  });

  it("of a client that speaks for itself works like any other", async () => {
    const token = await server.accessToken("muster:read", { sub: undefined, client_id: "nightly-build" });
    expect((await list(token)).status).toBe(200);
  });

  it("lists scopes the other common way", async () => {
    const token = await server.accessToken("", { scope: undefined, scp: ["muster:read"] });
    expect((await fetch(`${server.url}/api/v1/claims`, { headers: bearer(token) })).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["for another server", { aud: "https://elsewhere.example/mcp" }, "its aud is not this server"],
    ["for no server", { aud: undefined }, "its aud is not this server"],
    ["without an end", { exp: undefined }, "its exp is missing or no time"],
    ["past its end", { exp: Math.floor(Date.now() / 1000) - 120 }, "it has expired"],
    ["of another issuer", { iss: "https://elsewhere.example" }, "its iss is not the expected one"],
    ["for nobody", { sub: undefined }, "it names nobody"],
    ["with roots that are no ids", { muster_roots: ["everything"] }, "not understood"],
    ["with roots that are no list", { to_scope: { root_ids: "everything" } }, "not understood"],
    ["with a limit that is not kept here", { to_scope: { tags_include: ["a"] } }, "not understood"],
  ])("%s opens nothing", async (_, claims, reason) => {
    const answer = await list(await server.accessToken("muster:read", claims));
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toContain('error="invalid_token"');
    expect(answer.headers["www-authenticate"]).toContain(reason);
  });

  it("without a signature, or with one of a shared secret, opens nothing", async () => {
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
    const payload = { iss: server.issuer.issuer, aud: server.mcpUrl, sub: "eve", exp: 4_102_444_800 };
    for (const alg of ["none", "HS256"]) {
      const forged = `${encode({ alg, kid: "first" })}.${encode(payload)}.AAAA`;
      expect((await list(forged)).status).toBe(401);
    }
  });

  it("is not taken where only tokens of Muster are", async () => {
    const other = await startGuardedServer({ mode: "token" });
    try {
      const token = await other.accessToken("muster:read");
      expect((await modern(other.mcpUrl, "tools/list", {}, bearer(token))).status).toBe(401);
    } finally {
      await other.close();
    }
  });
});

describe("keys of the issuer", () => {
  it("that cannot be had answer 503, and are asked for again", async () => {
    const other = await startGuardedServer();
    try {
      other.issuer.misbehave(JWKS_PATH, (response) => void response.writeHead(500).end());
      const token = await other.accessToken("muster:read");
      const answer = await modern(other.mcpUrl, "tools/list", {}, bearer(token));
      expect(answer.status).toBe(503);
      expect(answer.headers["retry-after"]).toBe("1");
    } finally {
      await other.close();
    }
  });

  it("that are new open the door without a restart", async () => {
    const other = await startGuardedServer();
    try {
      const before = await other.accessToken("muster:read");
      expect((await modern(other.mcpUrl, "tools/list", {}, bearer(before))).status).toBe(200);
      await other.issuer.addKey("second");
      const after = await other.accessToken("muster:read");
      expect((await modern(other.mcpUrl, "tools/list", {}, bearer(after))).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});
