/**
 * `muster mcp`: MCP over stdio for one client, in front of a Muster that runs elsewhere. If
 * none runs on this machine, one is started in the background; if that one goes away, another.
 */
import { serveStdioBridge } from "../../api/mcp/stdio.ts";
import { clientConfig, type ClientConfig, readConfig } from "../../runtime/config.ts";
import { createPacedLoop } from "../../runtime/paced-loop.ts";
import { VERSION } from "../../runtime/version.ts";
import { answers, findLocalServer } from "../find-server.ts";
import { say } from "../output.ts";
import { startInBackground } from "./background-server.ts";

/** A background server stops when nobody has shown up for ten minutes; this keeps it. */
const SIGN_OF_LIFE_MS = 60_000;

/** Stands in the bridge's addresses for wherever the local server is at the moment of a call. */
const LOCAL = "http://muster.invalid";

/** Serves the client until it closes standard input. */
export async function serveMcp(): Promise<void> {
  const config = readConfig(clientConfig);
  const local = config.urls.length > 0 ? null : createLocalServer(config);
  // Found before the client asks for anything: its first call should not pay for a start.
  if (local !== null) say(`muster mcp: using ${await local.find()}`);
  const bridge = serveStdioBridge({
    urls: local === null ? config.urls : [LOCAL],
    version: VERSION,
    note: (message) => say(`muster mcp: ${message}`),
    ...(config.token === undefined ? {} : { token: config.token }),
    ...(local === null ? {} : { fetch: local.fetch }),
  });
  const signOfLife = createPacedLoop({
    name: "sign of life",
    everyMs: SIGN_OF_LIFE_MS,
    waitFirst: true,
    run: async () => {
      await local?.ping();
    },
    onError: () => {},
  });
  signOfLife.start();
  const stop = (): void => void bridge.close();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const stopped = new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve()).once("SIGTERM", () => resolve());
  });
  await Promise.race([bridge.closed, stopped]);
  await signOfLife.stop();
  await bridge.close();
  // Standard input may still be open after a signal; nothing else is.
  process.exit(0);
}

interface LocalServer {
  find(): Promise<string>;
  ping(): Promise<void>;
  readonly fetch: typeof fetch;
}

function createLocalServer({ dataDir }: ClientConfig): LocalServer {
  let url: string | null = null;
  let finding: Promise<string> | undefined;

  const search = async (): Promise<string> =>
    (url = (await findLocalServer(dataDir)) ?? (await startInBackground(dataDir)));
  const find = (): Promise<string> => (finding ??= search().finally(() => (finding = undefined)));
  const at = (base: string, target: string | URL | Request): URL => {
    const { pathname, search: query } = new URL(target instanceof Request ? target.url : target);
    return new URL(pathname + query, base);
  };

  return {
    find,
    async ping() {
      if (url !== null) await answers(url);
    },
    async fetch(target, init) {
      const base = url ?? (await find());
      try {
        return await fetch(at(base, target), init);
      } catch (error) {
        // Only a call that never left may go to another server here; the bridge decides about the rest.
        if (!wasRefused(error)) throw error;
        url = null;
        return await fetch(at(await find(), target), init);
      }
    },
  };
}

function wasRefused(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === "ECONNREFUSED";
}
