/** Processes of Muster: each started as its users start it, by the `muster` command. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "./child.ts";

const MUSTER = fileURLToPath(new URL("../../services/cli/main.ts", import.meta.url));
/** Making an embedded database takes seconds, and most of a minute on a machine that is busy otherwise. */
const UP_MS_MAX = 60_000;
const LOOK_EVERY_MS = 50;

export interface MusterOptions {
  readonly name: string;
  /** The subcommand and its arguments. */
  readonly args: readonly string[];
  /** Settings; those of our own environment are not handed on. */
  readonly settings: Readonly<Record<string, string>>;
  /** Folder for its output. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

export interface MusterServer {
  readonly url: string;
  readonly process: Child;
}

/** A process that serves HTTP; resolves when it is ready. */
export async function startServer(options: MusterOptions): Promise<MusterServer> {
  const { signal, settings } = options;
  const child = startMuster({ ...options, settings: { MUSTER_PORT: "0", ...settings } });
  return orStopped(child, async () => {
    const url = await until(child, signal, () => saidBy(child, /listening on (http:\S+)/));
    await until(child, signal, async () => ((await isReady(url)) ? true : null));
    return { url, process: child };
  });
}

/** A scheduler; resolves when it runs. */
export async function startScheduler(options: MusterOptions): Promise<Child> {
  const child = startMuster(options);
  return orStopped(child, async () => {
    await until(child, options.signal, () => saidBy(child, /(scheduler running)/));
    return child;
  });
}

/** A command that ends by itself. */
export async function runMuster(options: MusterOptions): Promise<void> {
  const child = startMuster(options);
  const code = await child.exited;
  if (code !== 0) throw failed(child, `ended with ${code}`);
}

function startMuster({ name, args, settings, folder }: MusterOptions): Child {
  return startChild({
    name,
    args: [MUSTER, ...args],
    env: {
      ...withoutSettings(process.env),
      MUSTER_METRICS_PORT: "off",
      MUSTER_LOG_LEVEL: "warn",
      ...settings,
    },
    logPath: join(folder, `${name}.log`),
  });
}

/** What is set for the Muster that its user runs must not reach ours. */
export function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = /^(MUSTER_|DEGRADED_MODE_POLICY$|RESOURCE_LEASES_ENFORCED$)/;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !foreign.test(name)));
}

/** One that does not come up is not left running. */
async function orStopped<T>(child: Child, comeUp: () => Promise<T>): Promise<T> {
  try {
    return await comeUp();
  } catch (error) {
    await child.stop();
    throw error;
  }
}

function saidBy(child: Child, pattern: RegExp): string | null {
  return pattern.exec(child.output())?.[1] ?? null;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL("/readyz", url))).ok;
  } catch {
    return false;
  }
}

async function until<T>(
  child: Child,
  signal: AbortSignal | undefined,
  look: () => T | null | Promise<T | null>,
): Promise<T> {
  const deadline = performance.now() + UP_MS_MAX;
  for (;;) {
    signal?.throwIfAborted();
    const found = await look();
    if (found !== null) return found;
    if (!child.running) throw failed(child, `ended with ${await child.exited}`);
    if (performance.now() > deadline) throw failed(child, `was not up after ${UP_MS_MAX / 1_000} s`);
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

function failed(child: Child, how: string): Error {
  return new Error(`${child.name} ${how}. It printed:\n${child.output().slice(-3_000)}`);
}
