import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Asking, asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";

describeEachDatabase("who works on what", (database) => {
  let engine: TestEngine;
  let claims: Asking["claims"];
  let agents: Asking["agents"];
  beforeAll(() => {
    engine = createTestEngine(database());
    ({ claims, agents } = asking(engine));
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items, agents cascade`.execute(database().db);
  });

  it("lists claims with their holders, those that end first at the head, lapsed ones as lapsed [S14]", async () => {
    const { db } = database();
    const root = await plantItem(db, { title: "root" });
    const session = "session-that-nobody-else-may-know";
    const long = await plantItem(db, { title: "long", claim: { agent: "ada", session, ttlSeconds: 600 } });
    const short = await plantItem(db, {
      title: "short",
      role: "work",
      parentId: root,
      claim: { agent: "bob", ttlSeconds: 30 },
    });
    const before = await claims();
    expect(before).toMatchObject({
      total: 2,
      hasMore: false,
      claims: [
        {
          itemId: short,
          agent: "bob",
          role: "work",
          fence: 1,
          attempt: 1,
          ttlSeconds: 30,
          lapsed: false,
          rootId: root,
        },
        { itemId: long, agent: "ada", title: "long", lapsed: false },
      ],
    });
    expect(JSON.stringify(before)).not.toContain(session);
    await database().advance(30_000);
    const after = await claims();
    expect(after.claims).toMatchObject([
      { itemId: short, lapsed: true, msLeft: 0 },
      { itemId: long, lapsed: false },
    ]);
    expect((await claims({ lapsed: true })).claims).toMatchObject([{ itemId: short }]);
    expect((await claims({ lapsed: false })).claims).toMatchObject([{ itemId: long }]);
    expect((await claims({ agent: "ada" })).claims).toMatchObject([{ itemId: long }]);
    expect((await claims({ ancestorId: root })).claims).toMatchObject([{ itemId: short }]);
    expect(await claims({ limit: 1 })).toMatchObject({
      total: 2,
      hasMore: true,
      claims: [{ itemId: short }],
    });
  });

  it("lists agents once each, whatever their sessions, with what they hold", async () => {
    const { db } = database();
    for (const [agent, session, age] of [
      ["ada", "ada-first-session", 60],
      ["ada", "ada-second-session", 10],
      ["eve", "eve-session", 30],
    ] as const) {
      await sql`insert into agents (agent, session, kind, capabilities, first_seen_at, last_seen_at)
        values (${agent}, ${session}, 'subagent', array['gpu'], muster_now() - interval '1 hour',
          muster_now() - ${age} * interval '1 second')`.execute(db);
    }
    const held = await plantItem(db, {
      title: "held",
      claim: { agent: "ada", session: "ada-second-session" },
    });
    const unrecorded = await plantItem(db, { claim: { agent: "zoe", session: randomUUID() } });
    const list = await agents();
    expect(list.total).toBe(3);
    const byName = new Map(list.agents.map((one) => [one.agent, one]));
    expect(byName.get("ada")).toMatchObject({
      kind: "subagent",
      sessions: 2,
      session: "ada-seco…",
      claims: 1,
      capabilities: ["gpu"],
      holds: [{ itemId: held, title: "held" }],
    });
    expect(byName.get("zoe")).toMatchObject({ claims: 1, holds: [{ itemId: unrecorded }] });
    expect(byName.get("eve")).toMatchObject({ claims: 0 });
    expect(list.agents.at(-1)).toMatchObject({ agent: "eve" });
    expect(JSON.stringify(list)).not.toContain("second-session");
    expect((await agents({ holding: true })).total).toBe(2);
    expect((await agents({ holding: false })).agents).toMatchObject([{ agent: "eve" }]);
    expect(await agents({ limit: 2 })).toMatchObject({ total: 3, hasMore: true });
    expect((await agents({ seenAfter: list.agents.at(-1)?.lastSeenAt })).total).toBe(2);
  });
});
