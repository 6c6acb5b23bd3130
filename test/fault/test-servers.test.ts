/** What fault tests rely on: the servers that they kill come back with what they promised to keep. */
import { Redis } from "ioredis";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

describe("a Postgres of one's own", () => {
  it("keeps what was committed when it is killed, and comes back at the same address", async () => {
    await using server = await startPostgres();
    const { url } = server;
    await query(url, "create table kept (value int)");
    await query(url, "insert into kept values (7)");
    await server.kill();
    await expect(query(url, "select 1")).rejects.toThrow("ECONNREFUSED");
    await server.start();
    expect(server.url).toBe(url);
    expect(await query(url, "select value from kept")).toEqual([{ value: 7 }]);
  });

  it("takes settings, and stops cleanly while clients are connected", async () => {
    await using server = await startPostgres({ settings: { lock_timeout: "1234ms" } });
    expect(await query(server.url, "show lock_timeout")).toEqual([{ lock_timeout: "1234ms" }]);
    const client = new Client({ connectionString: server.url });
    // The server says goodbye to it, which is what this test is about.
    client.on("error", () => undefined);
    await client.connect();
    await server.stop();
    expect(server.log()).toContain("database system is shut down");
  });
});

describe("a Redis of one's own", () => {
  it("forgets everything when it restarts, at the same address", async () => {
    await using server = await startRedis();
    const { url } = server;
    const client = new Redis(url);
    await client.set("a", "1");
    client.disconnect();
    await server.restart();
    expect(server.url).toBe(url);
    const again = new Redis(url);
    expect(await again.get("a")).toBeNull();
    again.disconnect();
  });
});
