/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return, typescript/no-unsafe-member-access, typescript/no-unsafe-argument, typescript/no-unsafe-call -- a test that reads a wrong field fails by itself */
/** Tokens as their makers handle them: shown once, bounded by what the maker has, ended for good. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Capability } from "../../../services/contract/operation.ts";
import type { Access } from "../../../services/engine/access.ts";
import { findToken } from "../../../db/stores/token-store.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";

const access = (capabilities: Capability[], scope: string[] | null = null, agent: string | null = null) => ({
  access: { capabilities: new Set(capabilities), scope, agent } satisfies Access,
});

describeEachDatabase("tokens", (database) => {
  let muster: TestEngine;
  beforeAll(() => {
    muster = createTestEngine(database());
  });
  afterAll(() => muster.close());

  const makeRoot = async (title: string): Promise<string> => {
    const made = await muster.call("manage_items", { operation: "create", items: [{ title }] });
    return made.items[0].id;
  };

  it("is shown once; what is kept is the SHA-256 of its secret, its beginning and what it may do", async () => {
    const made = await muster.call("create_token", { name: "ci", capabilities: ["read", "claim"] });
    expect(made.token).toMatch(new RegExp(`^muster_${made.tokenId}_[A-Za-z0-9_-]{43}$`));
    expect(made).toMatchObject({ prefix: `muster_${made.tokenId}`, rootIds: null, state: "active" });
    const days = (Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / 86_400_000;
    expect(days).toBe(90);
    const listed = await muster.call("list_tokens", {});
    expect(listed.tokens).toHaveLength(1);
    expect(JSON.stringify(listed)).not.toContain(made.token);
    const row = await findToken(database().db, made.tokenId);
    expect(row?.secret_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(made.token.slice(-43));
  });

  it("gets a new secret by rotation, under the same name, for another 90 days", async () => {
    const made = await muster.call("create_token", { name: "turn", capabilities: ["read"] });
    await database().advance(86_400_000);
    const turned = await muster.call("rotate_token", { tokenId: made.prefix });
    expect(turned).toMatchObject({ tokenId: made.tokenId, name: "turn" });
    expect(turned.token).not.toBe(made.token);
    expect(Date.parse(turned.expiresAt)).toBeGreaterThan(Date.parse(made.expiresAt));
  });

  it("is revoked once, and cannot be rotated back to life", async () => {
    const { tokenId } = await muster.call("create_token", { name: "gone", capabilities: ["read"] });
    const revoked = await muster.call("revoke_token", { tokenId, reason: "leaked" });
    expect(revoked).toMatchObject({ state: "revoked", revokeReason: "leaked", changed: true });
    expect(await muster.call("revoke_token", { tokenId })).toMatchObject({
      changed: false,
      revokeReason: "leaked",
    });
    await expect(muster.call("rotate_token", { tokenId })).rejects.toMatchObject({ code: "CONFLICT_ERROR" });
    const { tokens } = await muster.call("list_tokens", {});
    expect(tokens.map((one: { tokenId: string }) => one.tokenId)).not.toContain(tokenId);
  });

  it("cannot do more than whoever makes it", async () => {
    const maker = access(["tokens", "read"]);
    const wanted = { name: "more", capabilities: ["read", "write-items"] };
    await expect(muster.call("create_token", wanted, maker)).rejects.toMatchObject({
      code: "insufficient_scope",
      details: { required: ["muster:write-items"] },
    });
    const strong = await muster.call("create_token", { name: "strong", capabilities: ["admin"] });
    await expect(muster.call("rotate_token", { tokenId: strong.tokenId }, maker)).rejects.toMatchObject({
      code: "insufficient_scope",
    });
    await expect(
      muster.call("create_token", { name: "x", capabilities: ["read"] }, access(["read"])),
    ).rejects.toMatchObject({ code: "insufficient_scope" });
  });

  it("cannot see more than whoever makes it, and an item outside is answered like none", async () => {
    const [mine, other] = [await makeRoot("mine"), await makeRoot("other")];
    const maker = access(["tokens", "read"], [mine]);
    const make = (input: object) =>
      muster.call("create_token", { name: "scoped", capabilities: ["read"], ...input }, maker);
    expect(await make({})).toMatchObject({ rootIds: [mine] });
    const nobody = "00000000-0000-4000-8000-000000000000";
    const outside = await make({ rootIds: [other] }).catch((error: Error) => error.message);
    const absent = await make({ rootIds: [nobody] }).catch((error: Error) => error.message);
    expect(outside.replace(other, nobody)).toBe(absent);
    expect(await make({ pinnedRootId: mine })).toMatchObject({ pinnedRootId: mine });
  });

  it("of others is not seen by a maker with a scope, and is answered like none", async () => {
    const mine = await makeRoot("corner");
    const maker = access(["tokens", "read"], [mine]);
    const wide = await muster.call("create_token", { name: "wide", capabilities: ["read"] });
    const { tokens } = await muster.call("list_tokens", {}, maker);
    expect(tokens).toEqual([]);
    const seen = await muster.call("revoke_token", { tokenId: wide.tokenId }, maker).catch(String);
    const absent = await muster.call("revoke_token", { tokenId: "aaaaaaaa" }, maker).catch(String);
    expect(seen.replace(wide.tokenId, "aaaaaaaa")).toBe(absent);
  });

  it("of a maker that speaks for one agent speaks for the same", async () => {
    const maker = access(["tokens", "read"], null, "ann");
    const made = await muster.call("create_token", { name: "hers", capabilities: ["read"] }, maker);
    expect(made.agentId).toBe("ann");
    await expect(
      muster.call("create_token", { name: "his", capabilities: ["read"], agentId: "bob" }, maker),
    ).rejects.toMatchObject({ code: "insufficient_capability" });
  });

  it("reads of an operation that also writes need read only; its writes need what they write", async () => {
    const rootId = await makeRoot("configured");
    const reader = access(["read"]);
    await expect(
      muster.call("manage_project_config", { operation: "get", rootId }, reader),
    ).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    await expect(
      muster.call("manage_project_config", { operation: "push", rootId, configYaml: "a: 1" }, reader),
    ).rejects.toMatchObject({ details: { required: ["muster:write-config"] } });
    expect(await muster.call("manage_plan_documents", { operation: "list", rootId }, reader)).toMatchObject({
      hasMore: false,
    });
    const mover = access(["advance"]);
    const notes = [{ key: "k", role: "queue", body: "b" }];
    await expect(
      muster.call("advance_item", { itemId: rootId, trigger: "start", notes }, mover),
    ).rejects.toMatchObject({ details: { required: ["muster:write-notes"] } });
  });
});
