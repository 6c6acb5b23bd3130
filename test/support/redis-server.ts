/**
 * A real Redis or Valkey of one's own: in a temporary folder, on a free port, as an unprivileged
 * user. The runner starts one for all tests; fault tests start theirs, which they may flush, freeze
 * and kill. Nothing is saved to disk unless asked for, as the fleet needs nothing of it to survive.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findBinary } from "./find-binary.ts";
import { freePort } from "./free-port.ts";
import { type SystemUser, unprivilegedUser } from "./unprivileged-user.ts";

const START_MS_MAX = 10_000;
const POLL_MS = 10;

/** Somebody may take a free port before the server does. */
const PORTS_TRIED_MAX = 5;

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Of the current process; changes with {@link RedisServer.restart}. */
  readonly pid: number;
  /** Ends it and removes its temporary folder. Safe to call twice. */
  stop(): Promise<void>;
  /** Dies as in a power cut; its port and folder stay for {@link RedisServer.restart}. */
  kill(): Promise<void>;
  /** Freezes it: connections stay open, nothing answers. */
  pause(): void;
  resume(): void;
  /** A new process on the same port and folder, ending the old one if it lives. Without `appendonly` it remembers nothing. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RedisServerOptions {
  readonly port?: number;
  /** An existing folder to work in, which is then not removed. The server's user must be able to write there. */
  readonly dir?: string;
  /** Keeps every write, also through {@link RedisServer.kill}. */
  readonly appendonly?: boolean;
  /** Extra settings, for example `{ "maxmemory-policy": "allkeys-lru" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Whether this machine has what {@link startRedis} needs. */
export function hasRedis(): boolean {
  return findBinary("redis-server", "valkey-server") !== undefined;
}

/** Starts a server; resolves when it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const binary = findBinary("redis-server", "valkey-server");
  if (binary === undefined) throw new Error("Neither Redis nor Valkey is installed here.");
  const user = unprivilegedUser("redis", "valkey", "nobody");
  const folder = options.dir ?? mkdtempSync(join(tmpdir(), "muster-redis-"));
  if (user && options.dir === undefined) chownSync(folder, user.uid, user.gid);
  const server = new Server({ binary, folder, user, removesFolder: options.dir === undefined, options });
  try {
    await server.start(options.port);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Servers do not outlive the process that started them, however it ends short of SIGKILL. */
const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

interface ServerSetup {
  readonly binary: string;
  readonly folder: string;
  readonly user: SystemUser | undefined;
  readonly removesFolder: boolean;
  readonly options: RedisServerOptions;
}

class Server implements RedisServer {
  readonly #setup: ServerSetup;
  #child: ChildProcess | undefined;
  #port = 0;

  constructor(setup: ServerSetup) {
    this.#setup = setup;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error("Redis is not running.");
    return pid;
  }

  async start(port?: number): Promise<void> {
    const tries = port === undefined ? PORTS_TRIED_MAX : 1;
    for (let attempt = 1; ; attempt += 1) {
      this.#port = port ?? (await freePort());
      try {
        await this.#launch();
        return;
      } catch (error) {
        if (attempt >= tries) throw error;
      }
    }
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.#launch();
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    // Nothing of it is kept, so there is nothing to shut down in order; and this also ends a frozen one.
    await this.#end("SIGKILL");
    if (this.#setup.removesFolder) rmSync(this.#setup.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #launch(): Promise<void> {
    const { binary, folder, user } = this.#setup;
    const child = spawn(binary, this.#flags(), {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      ...user,
    });
    this.#child = child;
    living.add(child);
    child.once("exit", () => living.delete(child));
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = `${output}${text}`.slice(-4_000);
      });
    }
    try {
      await untilAnswering(child, this.#port);
    } catch (error) {
      await this.#end("SIGKILL");
      throw new Error(`Redis did not start on port ${this.#port}.\n${output}`, { cause: error });
    }
  }

  #flags(): string[] {
    const { folder, options } = this.#setup;
    const settings: Record<string, string> = {
      port: String(this.#port),
      bind: "127.0.0.1",
      dir: folder,
      daemonize: "no",
      save: "",
      appendonly: options.appendonly === true ? "yes" : "no",
      appendfsync: "always",
      "maxmemory-policy": "noeviction",
      ...options.settings,
    };
    return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

async function untilAnswering(child: ChildProcess, port: number): Promise<void> {
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = error;
  });
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    if (failure) throw failure;
    if (child.exitCode !== null) throw new Error(`It ended with code ${child.exitCode}.`);
    if (await answersPing(port)) return;
    await delay(POLL_MS);
  }
  throw new Error(`It did not answer within ${START_MS_MAX} ms.`);
}

/** Asks in the plainest form of the protocol; a server that still loads its data answers an error. */
async function answersPing(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1", timeout: 1_000 });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => socket.write("PING\r\n"));
      socket.once("data", (data) => resolve(data.toString().startsWith("+PONG")));
      for (const event of ["error", "close", "timeout"]) socket.once(event, () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}
