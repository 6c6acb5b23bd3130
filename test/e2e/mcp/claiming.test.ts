/** Claims as agents make them: over MCP, many connections at once, through two doors of one engine. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClaimGranted } from "../../../services/contract/claiming.ts";
import type { ClaimItemOutput } from "../../../services/contract/operations/claim-item.ts";
import type { CreateItemsOutput } from "../../../services/contract/operations/manage-items.ts";
import { plantGraph, plantItem } from "../../support/fixtures.ts";
import { callTool, initialize, legacy, type RawAnswer } from "../../support/raw-mcp.ts";
import { type RealServer, serveEngine, startTestServer, type TestServer } from "../../support/server.ts";
import { stateOf, tenuresOf } from "../../integration/claims/calls.ts";

type Args = Record<string, unknown>;
type Headers = Record<string, string>;

let server: RealServer;
let another: TestServer;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  another = await server.serveAnother();
});
afterAll(() => server.close());

const db = () => server.database.db;
/** Calls go to one door and the other in turn. */
const doorOf = (index: number): TestServer => (index % 2 === 0 ? server : another);
const actorOf = (id: string) => ({ id, kind: "subagent" });

function claimArgs(agent: string, entry: object, more: Args = {}): Args {
  return { actor: actorOf(agent), requestId: randomUUID(), claims: [entry], ...more };
}

/** What a claim was answered, in both of its forms. */
async function claim(
  door: TestServer,
  args: Args,
  headers?: Headers,
): Promise<{ output: ClaimItemOutput; result: ClaimItemOutput["claims"][number]; raw: RawAnswer }> {
  const raw = await callTool("legacy", door.mcpUrl, "claim_item", args, headers);
  const output = raw.json().result?.structuredContent as unknown as ClaimItemOutput;
  const [result] = output.claims;
  if (result === undefined) throw new Error("the claim was not answered");
  return { output, result, raw };
}

/** Text and structure of an answer, as a model gets both. */
const textOf = (raw: RawAnswer): string => raw.json().result?.content?.[0]?.text ?? "";

describe("workers that race for one item over connections of their own", () => {
  it.each([
    { workers: 2, names: "distinct" },
    { workers: 8, names: "distinct" },
    { workers: 2, names: "shared" },
    { workers: 8, names: "shared" },
  ])(
    "$workers of them under $names names: one wins, the rest are told when to come back and not by whom [S2] [B36]",
    async ({ workers, names }) => {
      const itemId = await plantItem(db());
      const crew = await Promise.all(
        Array.from({ length: workers }, async (_, index) => ({
          agent: names === "shared" ? "default-user" : `racer-${workers}-${index}`,
          door: doorOf(index),
          session: { "mcp-session-id": await initialize(doorOf(index).mcpUrl) },
        })),
      );
      const answers = await Promise.all(
        crew.map(({ agent, door, session }) =>
          claim(door, claimArgs(agent, { itemId, ttlSeconds: 60 }), session),
        ),
      );
      const won = answers.filter(({ result }) => result.outcome === "success");
      expect(won).toHaveLength(1);
      const [{ output: winner }] = won as [(typeof won)[0]];
      const winnerName = (winner.claims[0] as ClaimGranted).claimedBy;
      for (const { result, raw } of answers.filter((one) => !won.includes(one))) {
        expect(result).toMatchObject({ outcome: "already_claimed", kind: "transient" });
        expect(result).toHaveProperty(
          "retryAfterMs",
          expect.toSatisfy((ms: number) => ms >= 1 && ms <= 60_000),
        );
        expect(result).toHaveProperty("hint", expect.stringMatching(/workerId.+fence/));
        expect(raw.text).not.toContain(winner.workerId);
        if (names === "distinct") expect(raw.text).not.toContain(winnerName);
      }
      expect(await tenuresOf(db(), itemId)).toEqual([`${winner.workerId}: open`]);
    },
  );
});

describe("a dispatch that is delivered twice, at two doors", () => {
  it("starts one run for its worker, at the same moment and again later [S7] [B58]", async () => {
    const root = await plantItem(db(), { role: "work" });
    await plantGraph(
      db(),
      [1, 2, 3].map(() => ({ parentId: root })),
      [],
    );
    const dispatch = claimArgs(
      "runner",
      { selector: { ancestorId: root }, start: true },
      { workerId: "runner-1" },
    );
    const [first, second] = await Promise.all([claim(server, dispatch), claim(another, dispatch)]);
    const later = await claim(another, dispatch);
    const runs = [first, second, later].map(({ result }) => result as ClaimGranted);
    expect(new Set(runs.map(({ itemId, fence, attempt }) => `${itemId} ${fence} ${attempt}`)).size).toBe(1);
    expect(runs.filter((run) => run.replayed === true)).toHaveLength(2);
    const [{ itemId }] = runs as [ClaimGranted];
    expect(await tenuresOf(db(), itemId)).toEqual(["runner-1: open"]);
    const open = await db()
      .selectFrom("item_state")
      .select("item_id")
      .where("agent", "=", "runner")
      .execute();
    expect(open).toEqual([{ item_id: itemId }]);
  });

  it("makes one item, and names it each time [S7] [P-25]", async () => {
    const title = `from event ${randomUUID()}`;
    const event = {
      operation: "create",
      actor: actorOf("hook"),
      requestId: randomUUID(),
      items: [{ title }],
    };
    const deliver = async (door: TestServer): Promise<string | undefined> => {
      const answer = await callTool("legacy", door.mcpUrl, "manage_items", event);
      const output = answer.json().result?.structuredContent as unknown as CreateItemsOutput | undefined;
      return output?.items[0]?.id;
    };
    const ids = [...(await Promise.all([deliver(server), deliver(another)])), await deliver(another)];
    const made = await db().selectFrom("items").select("id").where("title", "=", title).execute();
    expect(made).toHaveLength(1);
    expect(ids).toEqual(ids.map(() => made[0]?.id));
  });
});

describe("an answer that never arrived", () => {
  it("is given again: the same item, attempt and fence for the same requestId [F-04]", async () => {
    const root = await plantItem(db(), { role: "work" });
    await plantGraph(
      db(),
      [1, 2].map(() => ({ parentId: root })),
      [],
    );
    const args = claimArgs("forgetful", { selector: { ancestorId: root }, ttlSeconds: 60 });
    const client = new AbortController();
    const done = Promise.withResolvers<ClaimItemOutput>();
    // The client hangs up after the engine is done and before a byte of the answer has left.
    const door = await serveEngine({
      ...server.engine,
      drain: () => {},
      async execute(name, input, caller) {
        const output = await server.engine.execute(name, input, caller);
        done.resolve(output as unknown as ClaimItemOutput);
        client.abort();
        return output;
      },
    });
    const lost = callTool("legacy", door.mcpUrl, "claim_item", args, {}, client.signal);
    await expect(lost).rejects.toThrow("aborted");
    const first = (await done.promise).claims[0] as ClaimGranted;
    await door.close();

    const { output, result } = await claim(another, args);
    expect(result).toMatchObject({
      itemId: first.itemId,
      attempt: first.attempt,
      fence: first.fence,
      claimExpiresAt: first.claimExpiresAt,
      replayed: true,
      fenceCurrent: true,
    });
    // Without a session the claim had minted one; the retry has to learn it, or it could never go on.
    expect(output.workerId).toBe((await done.promise).workerId);
    expect(await tenuresOf(db(), first.itemId)).toEqual([`${output.workerId}: open`]);
  });
});

describe("a claim that finds nothing", () => {
  it("says queue_empty when nothing matches, in the text as well [B43]", async () => {
    const { result, raw } = await claim(server, claimArgs("seeker", { selector: { tags: randomUUID() } }));
    expect(result).toMatchObject({ outcome: "queue_empty", kind: "permanent" });
    expect(textOf(raw)).toMatch(/NOT CLAIMED queue_empty \(permanent\): .+\nNext: .*Widen the selector/);
  });

  it("says none_eligible with a count per reason when all that match are taken, held above or blocked [B43]", async () => {
    const root = await plantItem(db(), { role: "work" });
    const held = await plantItem(db(), { role: "work", parentId: root, claim: { agent: "zoe" } });
    const blocker = await plantItem(db(), { role: "terminal", outcome: "cancelled" });
    const [, , blocked] = await plantGraph(
      db(),
      [{ parentId: root, claim: { agent: "yan" } }, { parentId: held }, { parentId: root }],
      [],
    );
    await plantGraph(db(), [], [{ from: blocker, to: blocked as string }]);
    const { result, raw } = await claim(server, claimArgs("seeker", { selector: { ancestorId: root } }));
    expect(result).toMatchObject({
      outcome: "none_eligible",
      kind: "transient",
      excluded: { claimed: 1, ancestorClaimed: 1, dependencyBlocked: 1 },
      retryAfterMs: expect.any(Number) as unknown,
    });
    expect(textOf(raw)).toContain("claimed=1 ancestorClaimed=1 dependencyBlocked=1");
    expect(raw.text).not.toMatch(/zoe|yan/);
  });

  it("is none while one item is free behind 250 that are blocked and rank higher [B44]", async () => {
    const root = await plantItem(db(), { role: "work" });
    const blocker = await plantItem(db(), { role: "terminal", outcome: "cancelled" });
    const ids = await plantGraph(
      db(),
      Array.from({ length: 251 }, (_, index) => ({
        parentId: root,
        priority: index < 250 ? ("high" as const) : ("low" as const),
      })),
      [],
    );
    await plantGraph(
      db(),
      [],
      ids.slice(0, 250).map((to) => ({ from: blocker, to })),
    );
    const { result } = await claim(server, claimArgs("seeker", { selector: { ancestorId: root } }));
    expect(result).toMatchObject({ outcome: "success", itemId: ids[250] });
  });
});

describe("a setting of a claim", () => {
  it.each([{ leaseTtl: 60 }, { ttl: 60 }, { ttlSeconds: 86_401 }, { ttlSeconds: 0 }])(
    "that does not exist or is out of range is refused by its name, and nothing is claimed: %j [S18]",
    async (setting) => {
      const itemId = await plantItem(db());
      const params = { name: "claim_item", arguments: claimArgs("tuner", { itemId, ...setting }) };
      const { result } = (await legacy(server.mcpUrl, "tools/call", params)).json();
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { error: { code: "VALIDATION_ERROR" } },
      });
      const text = result?.content?.[0]?.text ?? "";
      expect(text).toContain(Object.keys(setting)[0]);
      if ("ttlSeconds" in setting) expect(text).toContain("from 1 to 86400");
      expect(await stateOf(db(), itemId)).toMatchObject({ agent: null, fence: 0 });
    },
  );

  it("that is granted is echoed, in the text as well [S18]", async () => {
    const itemId = await plantItem(db());
    const { result, raw } = await claim(server, claimArgs("tuner", { itemId, ttlSeconds: 86_400 }));
    expect(result).toMatchObject({ outcome: "success", ttlSeconds: 86_400 });
    expect(textOf(raw)).toContain("ttlSeconds=86400");
  });
});
