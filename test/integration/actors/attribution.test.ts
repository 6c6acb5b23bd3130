/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return -- a test that reads a wrong field fails by itself */
/** Who is written down for what, and that no proof ever is. */
import { createHash, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { actorAuthentication } from "../../../services/contract/config/actor-authentication.ts";
import type { ActorRules } from "../../../services/engine/actors/actor-rules.ts";
import type { Caller } from "../../../services/engine/engine.ts";
import { createVerifier } from "../../../services/verification/create-verifier.ts";
import { describeEachDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { type IdentityProvider, startIdentityProvider } from "../../support/identity-provider.ts";

const CLIENT = { name: "a host", version: "1.2.3" };
const CALLER: Partial<Caller> = { client: CLIENT, session: "a connection" };

let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());

function rulesOf(verifier: Readonly<Record<string, unknown>> = {}): ActorRules {
  const section = actorAuthentication.parse({
    verifier: { type: "jwks", algorithms: ["EdDSA"], jwks_uri: provider.jwksUri, ...verifier },
  });
  return {
    verifier: createVerifier(section.verifier, { folder: "/" }),
    policy: section.degraded_mode_policy,
    singleUseProofs: section.verifier.jti_replay_protection,
  };
}

describeEachDatabase("attribution", (database) => {
  let engine: TestEngine;
  const db = () => database().db;

  beforeEach(() => {
    engine = createTestEngine(database(), { actors: rulesOf() });
  });
  afterEach(() => engine.close());

  async function ann() {
    const proof = await provider.sign({ sub: "ann", jti: randomUUID() });
    return { id: "ann", kind: "subagent" as const, parent: "boss", proof };
  }

  const call = async (name: string, input: object) =>
    await engine.call(name, { requestId: randomUUID(), ...input }, CALLER);

  async function create(actor: object | undefined, ...titles: string[]): Promise<string[]> {
    const items = titles.map((title) => ({ title }));
    const { items: made } = await call("manage_items", { operation: "create", actor, items });
    return (made as { id: string }[]).map((item) => item.id);
  }

  const ANN = { id: "ann", kind: "subagent", parent: "boss", client: CLIENT };
  const verifiedBy = (proof: string) => ({
    status: "verified",
    verifier: "jwks",
    proof: {
      sha256: createHash("sha256").update(proof).digest("hex"),
      claims: expect.objectContaining({ sub: "ann", iss: provider.issuer }) as object,
    },
  });

  const itemRow = (id: string) =>
    db().selectFrom("items").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const audit = (itemId: string) =>
    db()
      .selectFrom("audit_log")
      .selectAll()
      .where("item_id", "=", itemId)
      // Beside them stands a row for each call.
      .where("action", "<>", "call")
      .orderBy("id")
      .execute();

  it("of an item says who made it, who changed it last and how sure that is, with the client's name", async () => {
    const maker = await ann();
    const [id = ""] = await create(maker, "an item");
    expect(await itemRow(id)).toMatchObject({
      created_by: "ann",
      created_actor: ANN,
      created_verification: verifiedBy(maker.proof),
      modified_by: "ann",
      modified_actor: ANN,
      modified_verification: verifiedBy(maker.proof),
    });
    const ben = { id: "ben", kind: "user" as const };
    const change = { itemId: id, title: "another title", priority: "high" };
    await call("manage_items", { operation: "update", actor: ben, items: [change] });
    expect(await itemRow(id)).toMatchObject({
      created_by: "ann",
      created_verification: verifiedBy(maker.proof),
      modified_by: "ben",
      modified_actor: { ...ben, client: CLIENT },
      modified_verification: { status: "absent", verifier: "jwks" },
    });
    expect(await audit(id)).toMatchObject([
      {
        action: "item.updated",
        agent: "ben",
        session: "a connection",
        data: { fields: ["title", "priority"] },
      },
    ]);
  });

  it("of a change without an actor is that of its client, and nobody's name", async () => {
    const [id = ""] = await create(undefined, "an item");
    expect(await itemRow(id)).toMatchObject({
      created_by: null,
      created_actor: { client: CLIENT },
      created_verification: null,
    });
  });

  it("of an edge says who drew it, and who took it away", async () => {
    const actor = await ann();
    const [from = "", to = ""] = await create(actor, "first", "second");
    await call("manage_dependencies", {
      operation: "create",
      actor,
      dependencies: [{ fromItemId: from, toItemId: to, type: "BLOCKS" }],
    });
    const edges = db().selectFrom("dependencies").selectAll().where("to_item", "=", to);
    expect(await edges.execute()).toMatchObject([
      { created_by: "ann", created_actor: ANN, created_verification: verifiedBy(actor.proof) },
    ]);
    await call("manage_dependencies", { operation: "delete", actor, fromItemId: from, toItemId: to });
    expect(await audit(to)).toMatchObject([
      { action: "dependency.deleted", agent: "ann", actor: ANN, verification: verifiedBy(actor.proof) },
    ]);
  });

  it("of a tenure and of a move says who, and how sure that is", async () => {
    const actor = await ann();
    const [id = ""] = await create(undefined, "an item");
    const claims = [{ itemId: id, start: true }];
    await call("claim_item", { actor, workerId: "w1", claims });
    await call("advance_item", { actor, workerId: "w1", itemId: id, trigger: "complete" });
    const attempts = db().selectFrom("attempts").selectAll().where("item_id", "=", id);
    expect(await attempts.execute()).toMatchObject([
      { agent: "ann", session: "w1", actor: ANN, verification: verifiedBy(actor.proof) },
    ]);
    const moves = db().selectFrom("transitions").selectAll().where("item_id", "=", id).orderBy("id");
    expect(await moves.execute()).toMatchObject([
      { trigger: "start", agent: "ann", actor: ANN, verification: verifiedBy(actor.proof) },
      { trigger: "complete", agent: "ann", actor: ANN, verification: verifiedBy(actor.proof) },
    ]);
  });

  it("outlives a delete, and comes back with what comes back", async () => {
    const maker = await ann();
    const [id = ""] = await create(maker, "an item");
    const before = await itemRow(id);
    const ben = { id: "ben", kind: "user" as const };
    await call("manage_items", { operation: "delete", actor: ben, itemIds: [id] });
    expect(
      await db().selectFrom("trash").selectAll().where("item_id", "=", id).executeTakeFirstOrThrow(),
    ).toMatchObject({ deleted_by: "ben", deleted_actor: { ...ben, client: CLIENT } });
    await call("manage_items", { operation: "restore", actor: maker, itemIds: [id] });
    expect(await itemRow(id)).toMatchObject({
      created_by: "ann",
      created_actor: before.created_actor,
      created_verification: before.created_verification,
      modified_verification: before.modified_verification,
    });
    expect(await audit(id)).toMatchObject([
      { action: "item.deleted", agent: "ben" },
      { action: "item.restored", agent: "ann", verification: verifiedBy(maker.proof) },
    ]);
  });

  it("holds the verified identity, whatever name was stated, and the stated one beside it", async () => {
    await engine.close();
    engine = createTestEngine(database(), { actors: rulesOf({ require_sub_match: false }) });
    const actor = { ...(await ann()), id: "a nickname" };
    const [id = ""] = await create(actor, "an item");
    expect(await itemRow(id)).toMatchObject({
      created_by: "ann",
      created_actor: { id: "ann", statedId: "a nickname" },
    });
    const claimed = await call("claim_item", { actor, workerId: "w1", claims: [{ itemId: id }] });
    expect(claimed.claims[0]).toMatchObject({ outcome: "success", claimedBy: "ann" });
    // Under another nickname it is still the holder.
    const { results } = await call("advance_item", {
      actor: { ...(await ann()), id: "another nickname" },
      workerId: "w1",
      transitions: [{ itemId: id, trigger: "complete" }],
    });
    expect(results[0]).toMatchObject({ applied: true });
  });

  it("keeps no proof anywhere, not of a call that was refused either", async () => {
    const actor = await ann();
    const forged = { ...actor, proof: `${actor.proof.slice(0, -10)}AAAAAAAAAA` };
    const [id = "", other = ""] = await create(actor, "an item", "another");
    await call("claim_item", { actor, workerId: "w1", claims: [{ itemId: id, start: true }] });
    await call("advance_item", {
      actor,
      workerId: "w1",
      transitions: [{ itemId: id, trigger: "complete", summary: "done" }],
    });
    await call("manage_items", { operation: "delete", actor, itemIds: [other] });
    await expect(call("claim_item", { actor: forged, claims: [{ itemId: id }] })).rejects.toMatchObject({
      code: "rejected_by_policy",
    });
    await engine.close();
    const stored = await everythingIn(database());
    expect(stored).toContain(createHash("sha256").update(actor.proof).digest("hex"));
    for (const proof of [actor.proof, forged.proof]) {
      for (const part of proof.split(".")) expect(stored).not.toContain(part);
    }
  });

  it("that is forged changes nothing, and nothing is read for it [B85]", async () => {
    const [id = ""] = await create(undefined, "an item");
    const actor = { ...(await ann()), id: "somebody else" };
    const before = await everythingIn(database(), "audit_log");
    for (const [name, input] of [
      ["claim_item", { claims: [{ itemId: id }] }],
      ["advance_item", { transitions: [{ itemId: id, trigger: "start" }] }],
      ["manage_items", { operation: "update", items: [{ itemId: id, title: "taken over" }] }],
      ["claim_item", { claims: [{ itemId: "ffffffff" }] }],
    ] as const) {
      await expect(call(name, { actor, ...input })).rejects.toMatchObject({ code: "rejected_by_policy" });
    }
    // That it was tried is on record, and nothing else.
    expect(await everythingIn(database(), "audit_log")).toBe(before);
  });
});

/** Every row of every table but one, as text. */
async function everythingIn({ db }: TestDatabase, but = ""): Promise<string> {
  const tables = await sql<{ name: string }>`
    select quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> ${but} order by 1`.execute(
    db,
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ text: string }>`
      select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t))::text, '') as text from ${sql.raw(name)} t`.execute(
      db,
    );
    texts.push(`${name}: ${rows[0]?.text}`);
  }
  return texts.join("\n");
}
