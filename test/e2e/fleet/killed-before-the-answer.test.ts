/**
 * An API process dies by SIGKILL when Postgres has committed and nobody has been told. The moment is
 * not hoped for: the process reaches its database through a wire of ours, which carries commits and
 * keeps what Postgres says to them.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { plantItem } from "../../support/fixtures.ts";
import { createFleet, isReady } from "../../support/fleet.ts";
import { type MusterProcess, spawnMuster } from "../../support/processes.ts";
import { callTool } from "../../support/raw-mcp.ts";
import { until } from "../../support/until.ts";

interface Wire {
  readonly port: number;
  /** From now on a connection that commits gets no answer any more. */
  keepAnswersToCommits(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startWire(toPort: number, toHost: string): Promise<Wire> {
  const sockets = new Set<Socket>();
  let keeping = false;
  const server = createServer((near) => {
    const far = connect(toPort, toHost);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => (socket === near ? far : near).destroy());
    }
    let isMute = false;
    near.on("data", (chunk) => {
      isMute ||= keeping && chunk.includes("commit");
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (!isMute) near.write(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has a port.");
  return {
    port: address.port,
    keepAnswersToCommits: () => void (keeping = true),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function throughWire(url: string, port: number): string {
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String(port);
  return through.href;
}

type Answer = Readonly<Record<string, unknown>> & { readonly [list: string]: readonly object[] };

async function ask(server: MusterProcess, tool: string, args: Record<string, unknown>): Promise<Answer> {
  const answer = await callTool("modern", `${server.url}/mcp`, tool, args);
  return answer.json().result?.structuredContent as unknown as Answer;
}

/** What the three calls of the test have done, counted in the database. */
async function effects({ db }: TestDatabase, title: string, ids: readonly string[]): Promise<unknown> {
  const created = await db.selectFrom("items").select("id").where("title", "=", title).execute();
  const tenures = await db
    .selectFrom("attempts")
    .select(["agent", "fence"])
    .where("item_id", "in", ids)
    .execute();
  const moves = await db
    .selectFrom("transitions")
    .select(["trigger"])
    .where("item_id", "in", ids)
    .orderBy("trigger")
    .execute();
  return { created: created.length, tenures, moves: moves.map(({ trigger }) => trigger) };
}

it("an API killed between effect and answer did its calls once: another one answers them with what was committed [P-26]", async () => {
  await using database = await createTestDatabase({ kind: "pg" });
  const direct = new URL(database.url ?? "");
  await using wire = await startWire(Number(direct.port), direct.hostname);
  await using fleet = await createFleet({ databaseUrl: throughWire(direct.href, wire.port) });
  const [dying, other] = await Promise.all([
    fleet.api(),
    spawnMuster(["api"], { ...fleet.env, MUSTER_DATABASE_URL: direct.href }),
  ]);
  await using survivor = other;
  await until(async () => (await isReady(dying)) && (await isReady(survivor)), 60_000);

  const wanted = await plantItem(database.db, { tags: ["wanted"] });
  const finished = await plantItem(database.db, { role: "work" });
  const actor = { id: "ann", kind: "subagent" };
  const title = "Made once";
  const claim = {
    actor,
    requestId: randomUUID(),
    workerId: "ann-1",
    claims: [{ selector: { tags: "wanted" }, start: true }],
  };
  const complete = { actor, requestId: randomUUID(), itemId: finished, trigger: "complete" };
  const create = { actor, requestId: randomUUID(), operation: "create", items: [{ title }] };
  const eachOnce = {
    created: 1,
    tenures: [{ agent: "ann", fence: 1 }],
    moves: ["complete", "start"],
  };

  wire.keepAnswersToCommits();
  const unanswered = [
    ask(dying, "claim_item", claim),
    ask(dying, "advance_item", complete),
    ask(dying, "manage_items", create),
  ].map((call) => call.then(() => "answered").catch(() => "cut off"));
  await until(async () => {
    const seen = await effects(database, title, [wanted, finished]);
    return JSON.stringify(seen) === JSON.stringify(eachOnce);
  });
  await dying.kill();
  expect(await Promise.all(unanswered)).toEqual(["cut off", "cut off", "cut off"]);

  const [claimed] = (await ask(survivor, "claim_item", claim))["claims"] ?? [];
  expect(claimed).toMatchObject({
    outcome: "success",
    itemId: wanted,
    fence: 1,
    started: true,
    replayed: true,
    fenceCurrent: true,
  });
  const [moved] = (await ask(survivor, "advance_item", complete))["results"] ?? [];
  expect(moved).toMatchObject({ applied: true, newRole: "terminal", replayed: true });
  const [made] = (await ask(survivor, "manage_items", create))["items"] ?? [];
  expect(made).toMatchObject({ title, replayed: true });
  expect(await effects(database, title, [wanted, finished])).toEqual(eachOnce);
});
