/** Events as clients follow them over HTTP. */
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parseInput } from "../../../services/contract/parse.ts";
import { operationByName } from "../../../services/contract/registry.ts";
import { EVENT_TYPES } from "../../../services/contract/events.ts";
import { DATABASE_KINDS } from "../../support/database.ts";
import { testCaller, worker } from "../../support/engine.ts";
import { type EventClient, type EventClientOptions, followEvents } from "../../support/event-client.ts";
import { until } from "../../support/until.ts";
import { type RealServer, startTestServer } from "../../support/server.ts";

describe.each(DATABASE_KINDS)("events on %s", (kind) => {
  let server: RealServer;
  const clients: EventClient[] = [];
  beforeAll(async () => {
    server = await startTestServer({
      database: kind,
      config: { streamLimits: { queue: 200, stallMs: 1_000 } },
    });
  });
  afterAll(() => server?.close());
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  async function follow(query = "", options: EventClientOptions = {}): Promise<EventClient> {
    const client = await followEvents(`${server.url}${query}`, options);
    clients.push(client);
    return client;
  }

  function call(name: string, input: object): Promise<Record<string, unknown>> {
    const operation = operationByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return server.engine.execute(name, parseInput(operation, input), testCaller());
  }

  async function create(title: string, parentId?: string): Promise<string> {
    const made = await call("manage_items", {
      operation: "create",
      items: [{ title, ...(parentId !== undefined && { parentId }) }],
    });
    const [item] = made["items"] as { readonly id: string }[];
    if (item === undefined) throw new Error("Nothing was made.");
    return item.id;
  }

  it("an item that is made, moved on and written to says so, in this order", async () => {
    const stream = await follow();
    const id = await create("one");
    expect(await stream.next()).toMatchObject({
      event: "item.created",
      data: { event: "item.created", itemId: id, rootId: id },
    });
    await call("advance_item", { transitions: [{ itemId: id, trigger: "start", actor: worker("ann") }] });
    const moved = await stream.next();
    expect(moved).toMatchObject({
      event: "item.advanced",
      data: { itemId: id, previousRole: "queue", newRole: "work", trigger: "start" },
    });
    await call("manage_notes", {
      operation: "upsert",
      notes: [{ itemId: id, key: "k", role: "work", body: "b" }],
    });
    expect(await stream.next()).toMatchObject({ event: "note.upserted", data: { itemId: id, key: "k" } });
  });

  it("a client that comes back with its number gets what it missed, each event once", async () => {
    const first = await follow();
    await create("seen");
    const seen = await first.next("item.created");
    first.close();
    const missed = [await create("missed 1"), await create("missed 2")];
    const second = await follow("", { lastEventId: seen.id });
    const live = await create("live");
    const ids = [await second.next(), await second.next(), await second.next()].map(
      ({ data }) => data["itemId"],
    );
    expect(ids).toEqual([...missed, live]);
  });

  it("what is older than what is kept in memory is sent again from the table", async () => {
    const anchor = await follow();
    const root = await create("anchor");
    const { id } = await anchor.next("item.created");
    await sql`insert into events (type, item_id, root_id, data)
      select 'item.updated', ${root}::uuid, ${root}::uuid, jsonb_build_object('version', n) from generate_series(1, 3500) n`.execute(
      server.database.db,
    );
    const stream = await follow("", { lastEventId: id });
    const versions: unknown[] = [];
    while (versions.length < 3_500) versions.push((await stream.next()).data["version"]);
    expect(versions).toEqual(Array.from({ length: 3_500 }, (_, index) => index + 1));
  });

  it("root and types leave out everything else", async () => {
    const [mine, other] = [await create("mine"), await create("other")];
    const stream = await follow(`?root=${mine}&types=item.created,item.updated`);
    await create("below other", other);
    const below = await create("below mine", mine);
    await call("advance_item", { transitions: [{ itemId: below, trigger: "start", actor: worker("ann") }] });
    await call("manage_items", { operation: "update", items: [{ itemId: below, title: "renamed" }] });
    expect(await stream.next()).toMatchObject({
      event: "item.created",
      data: { itemId: below, parentId: mine },
    });
    expect(await stream.next()).toMatchObject({ event: "item.updated", data: { itemId: below } });
  });

  it("a number from elsewhere and one that is no number ask to read anew, and the stream goes on [P-45]", async () => {
    for (const lastEventId of ["999999999", "abc"]) {
      const stream = await follow("", { lastEventId });
      expect(await stream.next()).toMatchObject({
        event: "sync.required",
        data: { reason: "unknown_event_id" },
      });
      const id = await create("after");
      expect(await stream.next()).toMatchObject({ event: "item.created", data: { itemId: id } });
    }
  });

  it("a number whose successors are no longer kept asks to read anew [P-45]", async () => {
    await create("gone");
    await create("kept");
    await sql`delete from events where seq < (select max(seq) from events)`.execute(server.database.db);
    const stream = await follow("", { lastEventId: "1" });
    expect(await stream.next()).toMatchObject({ event: "sync.required", data: { reason: "too_old" } });
  });

  it("a client that takes nothing is told to read anew and let go, and others go on", async () => {
    const slow = await follow();
    const quick = await follow("?types=item.created");
    slow.pause();
    const root = await create("noise");
    // More than the sockets between us take.
    await sql`insert into events (type, item_id, root_id, data)
      select 'item.updated', ${root}::uuid, ${root}::uuid, jsonb_build_object('version', n, 'fields', repeat('x', 2000))
      from generate_series(1, 8000) n`.execute(server.database.db);
    const last = await create("after the noise");
    let frame = await quick.next();
    while (frame.data["itemId"] !== last) frame = await quick.next();
    await until(() => server.engine.events.size === 1);
    slow.resume();
    expect(await slow.next("sync.required")).toMatchObject({ data: { reason: "queue_overflow" } });
    await slow.ended;
    const again = await follow("?types=item.created", { lastEventId: slow.lastEventId });
    expect(await again.next()).toMatchObject({ data: { itemId: last } });
  });

  it("what cannot be understood is refused with what it should have been", async () => {
    for (const query of ["?root=abc", "?types=item.exploded", "?since=3"]) {
      const refused = await follow(query);
      expect(refused.status).toBe(400);
      expect(JSON.parse(refused.text)).toMatchObject({ status: 400 });
    }
    expect((await follow("", { method: "POST" })).status).toBe(405);
  });

  it("every event that is written is known to those who read", async () => {
    const { rows } = await sql<{ type: string }>`select distinct type from events`.execute(
      server.database.db,
    );
    expect(rows.map(({ type }) => type).filter((type) => !Object.hasOwn(EVENT_TYPES, type))).toEqual([]);
  });

  it("the streams end when the server stops", async () => {
    const own = await startTestServer({ database: kind });
    const stream = await followEvents(own.url);
    await own.close();
    await stream.ended;
    expect(stream.status).toBe(200);
  });
});
