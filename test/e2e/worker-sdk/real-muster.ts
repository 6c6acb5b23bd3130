/** The real server in this process: embedded database, engine, HTTP; and a link to it that can be cut. */
import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import type { ItemPolicy } from "../../../services/core/state.ts";
import { DEFAULT_POLICY } from "../../../services/core/state.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { serveEngine } from "../../support/server.ts";

export interface RealMuster extends AsyncDisposable {
  readonly url: string;
  readonly database: TestDatabase;
  /** An agent that plants and looks. */
  readonly planner: Client;
  /** Plants items below one root, in order; answers their ids. */
  plant(titles: readonly string[]): Promise<string[]>;
  /** How the tenures of an item ended, oldest first; null for one that goes on. */
  ends(itemId: string): Promise<(string | null)[]>;
  roleOf(itemId: string): Promise<string>;
}

export async function startRealMuster(policy: Partial<ItemPolicy> = {}): Promise<RealMuster> {
  const database = await createTestDatabase({ kind: "pglite" });
  const engine = createTestEngine(database, { policyOf: () => ({ ...DEFAULT_POLICY, ...policy }) });
  const server = await serveEngine(engine.engine);
  const planner = createClient({ url: server.url, agent: { id: "planner", kind: "orchestrator" } });
  return {
    url: server.url,
    database,
    planner,
    async plant(titles) {
      const answer = await planner.call("manage_items", {
        operation: "create",
        items: titles.map((title) => ({ title })),
      });
      if (!("created" in answer) || answer.failed > 0)
        throw new Error(`not planted: ${JSON.stringify(answer)}`);
      return answer.items.map(({ id }) => id);
    },
    async ends(itemId) {
      const rows = await database.db
        .selectFrom("attempts")
        .select("end_reason")
        .where("item_id", "=", itemId)
        .orderBy("fence")
        .execute();
      return rows.map((row) => row.end_reason);
    },
    async roleOf(itemId) {
      const row = await database.db
        .selectFrom("item_state")
        .select("role")
        .where("item_id", "=", itemId)
        .executeTakeFirstOrThrow();
      return row.role;
    },
    async [Symbol.asyncDispose]() {
      planner.close();
      engine.engine.drain();
      await server.close();
      await engine.close();
      await database.close();
    },
  };
}

export interface Link extends AsyncDisposable {
  readonly url: string;
  /** Drops all connections and takes no new ones until `mend()`. */
  cut(): void;
  mend(): void;
}

/** A cable between a client and the server. */
export async function startLink(target: string): Promise<Link> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const upstream = connect(Number(port), hostname);
    for (const each of [socket, upstream]) {
      sockets.add(each);
      each.on("error", () => {});
      each.on("close", () => {
        sockets.delete(each);
        (each === socket ? upstream : socket).destroy();
      });
    }
    socket.pipe(upstream).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      drop();
    },
    mend: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      drop();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
