/**
 * The server's own configuration file: read at the start, where a fault ends the process, and
 * again whenever it changes, where a fault is logged and what was good stays in force.
 */
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { ServerConfig } from "../../contract/config/parse-config.ts";
import { DEFAULT_RETENTION } from "../../core/retention.ts";
import { EMPTY_LAYER } from "../../core/schemas/config-layer.ts";
import type { EngineLog } from "../deps.ts";
import { readServerConfig } from "./read-config.ts";

/** The file cannot be used. The message says which, where and why. */
export class BrokenServerConfig extends Error {
  constructor(path: string, faults: readonly string[]) {
    super(`The configuration file ${path} is not valid:\n${faults.map((one) => `  ${one}`).join("\n")}`);
    this.name = "BrokenServerConfig";
  }
}

export interface ServerConfigOptions {
  /** Where it may be: the first that exists counts. */
  readonly paths: readonly string[];
  /** Somebody named it, so that it has to be there. */
  readonly required: boolean;
  readonly log: EngineLog;
  /** How often the file is looked at. */
  readonly everyMs?: number;
}

/** Told of every text that takes the place of another. */
type Follower = (config: ServerConfig) => void;

export interface ServerConfigFile {
  /** What it says as far as it could be read. */
  current(): ServerConfig;
  /** Null: there is none. */
  readonly path: string | null;
  onChange(follower: Follower): void;
  close(): void;
}

const NOTHING: ServerConfig = {
  layer: EMPTY_LAYER,
  ignoredSections: [],
  warnings: [],
  identity: null,
  actorAuthentication: undefined,
  retention: DEFAULT_RETENTION,
};

interface Loaded {
  readonly path: string | null;
  readonly config: ServerConfig;
}

/** @throws BrokenServerConfig */
export function openServerConfig(options: ServerConfigOptions): ServerConfigFile {
  const { paths, log, everyMs = 1_000 } = options;
  const first = load(options);
  announce(log, first);
  let loaded = first;
  let refused: string | null = null;
  const followers: Follower[] = [];
  const reload = (): void => {
    try {
      const next = load(options);
      if (next.config.layer.fingerprint === loaded.config.layer.fingerprint) return;
      // A file that goes away is likely being replaced, and gates do not open meanwhile.
      if (next.path === null) throw new BrokenServerConfig(loaded.path ?? "", ["it is no longer there"]);
      announce(log, next);
      if (changesWhatStays(first.config, next.config))
        log.warn(
          { path: next.path },
          "identity, actor_authentication and retention take effect at the next start",
        );
      loaded = next;
      refused = null;
      for (const follower of followers) follower(next.config);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      if (cause === refused) return;
      refused = cause;
      log.error({ err: error }, "the configuration file is not used: what was read before stays in force");
    }
  };
  for (const path of paths) watchFile(path, { interval: everyMs, persistent: false }, reload);
  // The watch compares with what it finds when it first looks: a change before that would never be seen.
  const changedMeanwhile = setTimeout(reload, everyMs);
  changedMeanwhile.unref();
  return {
    current: () => loaded.config,
    path: first.path,
    onChange: (follower) => void followers.push(follower),
    close() {
      clearTimeout(changedMeanwhile);
      for (const path of paths) unwatchFile(path, reload);
    },
  };
}

function load({ paths, required }: ServerConfigOptions): Loaded {
  for (const path of paths) {
    const text = readIfThere(path);
    if (text === null) continue;
    const parsed = readServerConfig(text);
    if (!parsed.ok) throw new BrokenServerConfig(path, parsed.faults);
    return { path, config: parsed.config };
  }
  if (required) throw new BrokenServerConfig(paths.join(", "), ["there is no such file"]);
  return { path: null, config: NOTHING };
}

function readIfThere(path: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return null;
    throw new BrokenServerConfig(path, [`it cannot be read: ${cause.message}`]);
  }
}

function announce(log: EngineLog, { path, config }: Loaded): void {
  if (path === null) return;
  const { layer, ignoredSections, warnings } = config;
  const about = { path, fingerprint: layer.fingerprint, ignoredSections };
  log.info(about, "configuration file read");
  for (const warning of warnings) log.warn({ path }, warning);
}

function changesWhatStays(before: ServerConfig, after: ServerConfig): boolean {
  const parts = ({ identity, actorAuthentication, retention }: ServerConfig): string =>
    JSON.stringify([identity, actorAuthentication, retention]);
  return parts(before) !== parts(after);
}
