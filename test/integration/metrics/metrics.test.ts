/** What a scrape says of a fleet at work. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createGauges } from "../../../services/engine/gauges.ts";
import { createMetrics, type Metrics } from "../../../services/runtime/metrics/metrics.ts";
import { type MetricsServer, serveMetrics } from "../../../services/runtime/metrics/serve-metrics.ts";
import { watchOperations } from "../../../services/runtime/metrics/watch-operations.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import { operationByName } from "../../../services/contract/registry.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, testCaller, worker } from "../../support/engine.ts";

const LOG = { info: () => {}, warn: () => {} };

describeEachDatabase("metrics", (database) => {
  let engine: TestEngine;
  let metrics: Metrics;
  let server: MetricsServer | null;
  beforeAll(async () => {
    metrics = createMetrics();
    engine = createTestEngine(database(), { watcher: metrics });
    metrics.watch({
      fleet: createGauges(database().db, 0),
      pool: database().poolUse,
      eventLagMs: () => engine.engine.events.lagMs,
      eventStreams: () => engine.engine.events.size,
    });
    server = await serveMetrics(metrics, { host: "127.0.0.1", port: 0, log: LOG });
  });
  afterAll(async () => {
    await server?.close();
    await engine?.close();
  });

  async function call(name: string, input: object): Promise<Record<string, unknown>> {
    const operation = operationByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    const { engine: watched } = engine;
    return await watchOperations(watched, metrics).execute(name, parseInput(operation, input), testCaller());
  }

  async function scrape(): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${server?.port}/metrics`);
    expect(answer.headers.get("content-type")).toContain("text/plain");
    return await answer.text();
  }

  async function claim(agent: string, more: object = {}): Promise<void> {
    await call("claim_item", {
      actor: worker(agent),
      requestId: randomUUID(),
      claims: [{ selector: {}, start: true, ...more }],
    });
  }

  it("say how much is ready and held, and count claims, lapses and takeovers", async () => {
    const made = await call("manage_items", { operation: "create", items: [{ title: "a" }, { title: "b" }] });
    const ids = (made["items"] as { id: string }[]).map(({ id }) => id);
    const before = await scrape();
    for (const id of ids) expect(before).toContain(`muster_items_ready{root="${id}",role="queue"} 1`);
    expect(before).toContain("muster_database_up 1");
    await claim("ann", { ttlSeconds: 60 });
    await claim("bob", { ttlSeconds: 60 });
    await claim("cem");
    const held = await scrape();
    expect(held).toContain("muster_claims_held 2");
    expect(held).toContain('muster_claims_total{outcome="success"} 2');
    expect(held).toMatch(/muster_claims_total\{outcome="(queue_empty|none_eligible|no_match)"\} 1/);
    await database().advance(120_000);
    expect(await scrape()).toContain("muster_claims_lapsed 2");
    // Not what was just answered empty: that is remembered for a moment of the process, whose clock stands.
    await claim("cem", { selector: { orderBy: "oldest" } });
    const after = await scrape();
    expect(after).toMatch(/muster_attempts_ended_total\{reason="expired"\} [12]/);
    expect(after).toMatch(/muster_operation_seconds_count\{operation="claim_item",outcome="ok"\} 4/);
  });

  it("have no series for a root beyond the cap, whatever is made", async () => {
    const items = Array.from({ length: 40 }, (_, index) => ({ title: `r${index}` }));
    await call("manage_items", { operation: "create", items });
    const text = await scrape();
    const roots = new Set([...text.matchAll(/muster_items_ready\{root="([^"]+)"/g)].map(([, root]) => root));
    expect(roots.size).toBeLessThanOrEqual(21);
    expect(roots.has("other")).toBe(true);
  });

  it("count what is refused because of a fence", async () => {
    const { items } = (await call("manage_items", { operation: "create", items: [{ title: "mine" }] })) as {
      items: { id: string }[];
    };
    const itemId = items[0]?.id;
    await call("claim_item", { actor: worker("ann"), requestId: randomUUID(), claims: [{ itemId }] });
    await call("advance_item", { transitions: [{ itemId, trigger: "start", actor: worker("eve") }] });
    expect(await scrape()).toMatch(/muster_fence_refusals_total\{code="not_claim_holder"\} 1/);
  });

  it("are all in the documentation, and nothing else is", async () => {
    const { readFileSync } = await import("node:fs");
    const page = readFileSync(new URL("../../../docs/metrics.md", import.meta.url), "utf8");
    const documented = [...page.matchAll(/^\| `(muster_[a-z_]+)/gm)].map(([, name]) => name ?? "");
    const served = (await metrics.registry.getMetricsAsJSON()).map(({ name }) => name);
    expect(documented.toSorted()).toEqual(served.filter((name) => name.startsWith("muster_")).toSorted());
  });

  it("go on without when their port is taken", async () => {
    const port = server?.port ?? 0;
    expect(await serveMetrics(metrics, { host: "127.0.0.1", port, log: LOG })).toBeNull();
  });

  it("the port answers the probe of what listens nowhere else, and nothing besides", async () => {
    const at = (path: string) => fetch(`http://127.0.0.1:${server?.port}${path}`);
    expect(await (await at("/livez")).json()).toEqual({ live: true });
    expect((await at("/api/v1/claims")).status).toBe(404);
  });
});
