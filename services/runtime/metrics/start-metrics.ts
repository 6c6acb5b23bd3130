/** Metrics of one process, from its start to its end. */
import type { Lifecycle } from "../lifecycle.ts";
import type { Log } from "../log.ts";
import type { Metrics, MetricSources } from "./metrics.ts";
import { serveMetrics } from "./serve-metrics.ts";

export interface Watched {
  readonly config: { readonly metricsPort: number | null; readonly host?: string };
  readonly log: Log;
  readonly engine: { readonly events: { readonly lagMs: number | null; readonly size: number } };
  readonly gauges: MetricSources["fleet"];
  readonly pool: MetricSources["pool"];
}

/** Serves nothing when the port is off. A scheduler, which listens nowhere else, serves them to all. */
export async function startMetrics(lifecycle: Lifecycle, metrics: Metrics, watched: Watched): Promise<void> {
  const { config, engine, gauges, pool, log } = watched;
  if (config.metricsPort === null) return;
  const { metricsPort: port, host = "0.0.0.0" } = config;
  metrics.watch({
    fleet: gauges,
    pool,
    eventLagMs: () => engine.events.lagMs,
    eventStreams: () => engine.events.size,
  });
  await lifecycle.own(
    "metrics",
    () => serveMetrics(metrics, { host, port, log }),
    (server) => server?.close(),
  );
}
