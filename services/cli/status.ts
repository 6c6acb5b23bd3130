/** `muster status`: is it there, is it well, how much is going on? */
import { EXIT } from "../contract/errors.ts";
import { clientConfig, readConfig } from "../runtime/config.ts";
import { findServer } from "./find-server.ts";
import { print } from "./output.ts";
import { getAny } from "./rest.ts";

interface Readiness {
  readonly ready?: boolean;
  readonly degraded?: readonly string[];
  readonly checks?: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
}

interface Page {
  readonly version?: string;
  readonly mode?: string;
  readonly data?: string;
  readonly counts?: Readonly<Record<string, number>> | null;
}

/** Answers 0 if it is ready, 69 if it is not. */
export async function showStatus({ json }: { readonly json: boolean }): Promise<number> {
  const config = readConfig(clientConfig);
  const target = { urls: await findServer(config), token: config.token };
  const [page, readiness] = await Promise.all([getAny(target, "/"), getAny(target, "/readyz")]);
  const { ready = false, degraded = [], checks = {} } = readiness.body as Readiness;
  // A server that is still starting answers nothing but its probes.
  const {
    version = null,
    mode = null,
    data = null,
    counts = null,
  } = (page.status === 200 ? page.body : {}) as Page;
  const status = { url: page.url, version, mode, data, ready, degraded, checks, counts };
  print(json, status, () =>
    [
      `Muster ${version ?? ""} at ${page.url}: ${ready ? "ready" : "not ready"}`,
      ...Object.entries(checks).map(
        ([name, { ok, reason }]) => `  ${name}: ${ok ? "ok" : (reason ?? "away")}`,
      ),
      ...Object.entries(counts ?? {}).map(([label, count]) => `  ${label}: ${count}`),
    ].join("\n"),
  );
  return ready ? EXIT.ok : EXIT.unavailable;
}
