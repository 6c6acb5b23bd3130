/**
 * What a process counts about itself, in the format of Prometheus. Labels come from closed sets, so
 * that no caller can make a series; the one that does not, `root`, is capped.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

/** The roots with the most that is ready are told apart; the rest are one. */
const ROOTS_MAX = 20;
const OTHER_ROOTS = "other";
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What is read when somebody scrapes. */
export interface FleetGauges {
  readonly held: number;
  readonly lapsed: number;
  readonly dead: number;
  readonly sweepAgeSeconds: number | null;
  readonly oldestSnapshotSeconds: number;
  readonly ready: readonly {
    readonly rootId: string;
    readonly role: string;
    readonly items: number;
    readonly oldestSeconds: number;
  }[];
}

export interface MetricSources {
  readonly fleet: () => Promise<FleetGauges>;
  /** Null while nobody follows events. */
  readonly eventLagMs: () => number | null;
  readonly eventStreams: () => number;
  readonly pool: () => { readonly max: number; readonly busy: number; readonly waiting: number } | null;
}

export interface Metrics {
  readonly registry: Registry;
  /** Everything, as text. Reads the numbers of the fleet first: what is set meanwhile would come a scrape late. */
  scrape(): Promise<string>;
  /** To be set once what is watched is there. */
  watch(sources: MetricSources): void;
  operation(name: string, outcome: string, seconds: number): void;
  http(route: string, status: number, seconds: number): void;
  claim(outcome: string): void;
  refresh(outcome: string): void;
  fenceRefused(code: string): void;
  leaseContended(): void;
  attemptEnded(reason: string): void;
  takenOver(): void;
  waiting(size: number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers });

  const operations = histogram(
    "muster_operation_seconds",
    "Time of operations, whichever door they came by.",
    ["operation", "outcome"],
  );
  const http = histogram("muster_http_seconds", "Time of HTTP answers; of streams, until they ended.", [
    "route",
    "status",
  ]);
  const claims = counter("muster_claims_total", "Claims by what they were answered.", ["outcome"]);
  const refreshes = counter("muster_refreshes_total", "Heartbeats by what they were answered.", ["outcome"]);
  const fences = counter(
    "muster_fence_refusals_total",
    "Calls of those who hold an item no more, or never did.",
    ["code"],
  );
  const contended = counter(
    "muster_lease_contention_total",
    "Moves that were refused for want of a resource.",
  );
  const attempts = counter("muster_attempts_ended_total", "Attempts by how they ended.", ["reason"]);
  const takeovers = counter("muster_takeovers_total", "Lapsed claims that another agent took over at once.");
  const waiting = new Gauge({
    name: "muster_waiters",
    help: "Calls of this process that wait for something to happen.",
    registers,
  });
  waiting.set(0);
  const fleet = createFleetGauges(registry);

  return {
    registry,
    scrape: async () => {
      await fleet.refresh();
      return await registry.metrics();
    },
    watch: (sources) => fleet.watch(sources),
    operation: (operation, outcome, seconds) => operations.observe({ operation, outcome }, seconds),
    http: (route, status, seconds) =>
      http.observe({ route, status: `${Math.floor(status / 100)}xx` }, seconds),
    claim: (outcome) => claims.inc({ outcome }),
    refresh: (outcome) => refreshes.inc({ outcome }),
    fenceRefused: (code) => fences.inc({ code }),
    leaseContended: () => contended.inc(),
    attemptEnded: (reason) => attempts.inc({ reason }),
    takenOver: () => takeovers.inc(),
    waiting: (size) => waiting.set(size),
  };
}

function createFleetGauges(registry: Registry) {
  let sources: MetricSources | null = null;
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const ready = gauge("muster_items_ready", "Items that only a claim is missing to.", ["root", "role"]);
  const oldest = gauge(
    "muster_items_ready_oldest_seconds",
    "How long the oldest of them has been in its role.",
    ["root", "role"],
  );
  const held = gauge("muster_claims_held", "Items that somebody holds.");
  const lapsed = gauge("muster_claims_lapsed", "Held items whose time has passed, by the database alone.");
  const dead = gauge("muster_items_dead", "Items that used up their attempts.");
  const sweepAge = gauge("muster_sweep_age_seconds", "Time since any process swept.");
  const snapshot = gauge("muster_oldest_snapshot_seconds", "Age of the oldest transaction on the database.");
  const lag = gauge(
    "muster_event_lag_seconds",
    "Time from the latest event to its reading, while any is followed.",
  );
  const streams = gauge("muster_event_streams", "Streams of events of this process.");
  const pool = gauge("muster_db_pool_connections", "Connections of this process to its database.", ["state"]);

  const up = gauge("muster_database_up", "1 when the numbers of the fleet could be read for this scrape.");

  async function refresh(): Promise<void> {
    if (sources === null) return;
    lag.set((sources.eventLagMs() ?? 0) / 1_000);
    streams.set(sources.eventStreams());
    for (const [state, count] of Object.entries(sources.pool() ?? {})) pool.set({ state }, count);
    try {
      show(await sources.fleet());
      up.set(1);
    } catch {
      up.set(0);
    }
  }

  function show(fleet: FleetGauges): void {
    held.set(fleet.held);
    lapsed.set(fleet.lapsed);
    dead.set(fleet.dead);
    if (fleet.sweepAgeSeconds !== null) sweepAge.set(fleet.sweepAgeSeconds);
    snapshot.set(fleet.oldestSnapshotSeconds);
    ready.reset();
    oldest.reset();
    const named = largestRoots(fleet.ready);
    const ages = new Map<string, number>();
    for (const one of fleet.ready) {
      const labels = { root: named.has(one.rootId) ? one.rootId : OTHER_ROOTS, role: one.role };
      const key = `${labels.root} ${labels.role}`;
      const age = Math.max(ages.get(key) ?? 0, one.oldestSeconds);
      ages.set(key, age);
      ready.inc(labels, one.items);
      oldest.set(labels, age);
    }
  }

  return {
    refresh,
    watch: (given: MetricSources): void => {
      sources = given;
    },
  };
}

function largestRoots(ready: FleetGauges["ready"]): ReadonlySet<string> {
  const items = new Map<string, number>();
  for (const one of ready) items.set(one.rootId, (items.get(one.rootId) ?? 0) + one.items);
  const sorted = [...items].toSorted(([, left], [, right]) => right - left);
  return new Set(sorted.slice(0, ROOTS_MAX).map(([root]) => root));
}
