/** Events in a fleet: two API processes, and clients that lose one of them, or their credential. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase, type OpenDatabase } from "../../../db/open.ts";
import { createRedisCoordination } from "../../../services/coordination/redis/redis-coordination.ts";
import type { Coordination } from "../../../services/coordination/port.ts";
import type { MintedToken } from "../../../services/contract/tokens.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { followEvents } from "../../support/event-client.ts";
import { createFleet, type Fleet, isReady } from "../../support/fleet.ts";
import { type MusterProcess, spawnMuster } from "../../support/processes.ts";
import { until } from "../../support/until.ts";

let fleet: Fleet;
let a: MusterProcess;
let b: MusterProcess;
let database: OpenDatabase;
let coordination: Coordination;
let engine: TestEngine;

beforeAll(async () => {
  fleet = await createFleet();
  const env = { ...fleet.env, MUSTER_AUTH: "token" };
  [a, b] = await Promise.all([spawnMuster(["api"], env), spawnMuster(["api"], env)]);
  await until(async () => (await isReady(a)) && (await isReady(b)), 90_000);
  database = await openDatabase({ url: fleet.env["MUSTER_DATABASE_URL"] });
  const log = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
  coordination = createRedisCoordination({ url: fleet.redis.url, log });
  await coordination.health();
  engine = createTestEngine(database, { coordination });
}, 180_000);
afterAll(async () => {
  await Promise.all([a?.kill(), b?.kill()]);
  await engine?.close();
  await coordination?.close();
  await database?.close();
  await fleet?.[Symbol.asyncDispose]();
});

async function token(): Promise<MintedToken> {
  return (await engine.call("create_token", { name: "follower", capabilities: ["read"] })) as MintedToken;
}

async function create(title: string): Promise<string> {
  const made = (await engine.call("manage_items", { operation: "create", items: [{ title }] })) as {
    items: { id: string }[];
  };
  return made.items[0]?.id ?? "";
}

describe("a client that follows events in a fleet", () => {
  it("is refused without a credential", async () => {
    expect((await followEvents(a.url)).status).toBe(401);
  });

  it("loses its stream within a second once its token is revoked, and hears why", async () => {
    const { token: text, tokenId } = await token();
    const [onA, onB] = [
      await followEvents(a.url, { token: text }),
      await followEvents(b.url, { token: text }),
    ];
    await create("seen by both");
    await Promise.all([onA.next("item.created"), onB.next("item.created")]);
    const revokedAt = performance.now();
    await engine.call("revoke_token", { tokenId });
    await Promise.all([onA.next("auth.expired"), onB.next("auth.expired")]);
    await Promise.all([onA.ended, onB.ended]);
    expect(performance.now() - revokedAt).toBeLessThan(1_000);
    expect((await followEvents(b.url, { token: text })).status).toBe(401);
  });

  it("that loses its replica goes on at the other, without loss and without repetition", async () => {
    const { token: text } = await token();
    const first = await followEvents(`${a.url}?types=item.created`, { token: text });
    const titles = Array.from({ length: 60 }, (_, index) => `n${index}`);
    const made: string[] = [];
    const writing = (async () => {
      for (const title of titles) made.push(await create(title));
    })();
    const seen: unknown[] = [];
    while (seen.length < 20) seen.push((await first.next()).data["itemId"]);
    await a.kill();
    await first.ended;
    // What had come before the end belongs to what was seen.
    seen.splice(0, seen.length, ...first.frames.map(({ data }) => data["itemId"]));
    const second = await followEvents(`${b.url}?types=item.created`, {
      token: text,
      lastEventId: first.lastEventId,
    });
    while (seen.length < titles.length) seen.push((await second.next()).data["itemId"]);
    await writing;
    expect(seen).toEqual(made);
    second.close();
  });
});
