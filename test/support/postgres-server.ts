/**
 * A real Postgres of one's own: in a temporary folder, on a free port, as an unprivileged user.
 * The runner starts one for all tests; fault tests start theirs, which they may kill.
 *
 * Durability is on, as in production: a test that kills the server must find what was committed.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { findBinary } from "./find-binary.ts";
import { freePort } from "./free-port.ts";
import { type SystemUser, unprivilegedUser } from "./unprivileged-user.ts";

const run = promisify(execFile);

/** Small enough for a laptop, wide enough for four API processes and the tests beside them. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  shared_buffers: "256MB",
  max_connections: "300",
  fsync: "on",
  synchronous_commit: "on",
  // Keeps a burst of new databases from forcing checkpoints.
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  autovacuum_naptime: "10s",
  // Speaks up when statements wait for each other, which is what a failing race test is about.
  log_lock_waits: "on",
  deadlock_timeout: "200ms",
};

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** A fast, clean shutdown. The data stays for {@link PostgresServer.start}. */
  stop(): Promise<void>;
  /** Dies as in a power cut. The data stays. */
  kill(): Promise<void>;
  /** Comes back on the same port with the same data. */
  start(): Promise<void>;
  /** What the server wrote to its log. */
  log(): string;
  /** Stops it and removes its folder. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface PostgresOptions {
  /** Extra settings, for example `{ lock_timeout: "1s" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Whether this machine has what {@link startPostgres} needs. */
export function hasPostgres(): boolean {
  return findBinary("postgres") !== undefined && findBinary("initdb") !== undefined;
}

/** Makes a cluster and starts it; resolves when it takes connections. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const initdb = findBinary("initdb");
  const binary = findBinary("postgres");
  if (initdb === undefined || binary === undefined) throw new Error("Postgres is not installed here.");
  const user = unprivilegedUser("postgres", "nobody");
  // A short path: the name of a Unix socket may not exceed 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "muster-pg-"));
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  try {
    const flags = ["--auth=trust", "--username=muster", "--encoding=UTF8", "--no-locale", "--no-sync"];
    await run(initdb, ["-D", data, ...flags], { cwd: folder, ...user });
    const server = new Server(binary, folder, user, { ...SETTINGS, ...options.settings });
    await server.startOnFreePort();
    return server;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error("Postgres could not be started.", { cause: error });
  }
}

class Server implements PostgresServer {
  readonly #binary: string;
  readonly #folder: string;
  readonly #user: SystemUser | undefined;
  readonly #settings: Readonly<Record<string, string>>;
  #port = 0;
  #process: ChildProcess | undefined;

  constructor(
    binary: string,
    folder: string,
    user: SystemUser | undefined,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#binary = binary;
    this.#folder = folder;
    this.#user = user;
    this.#settings = settings;
    process.once("exit", this.#killNow);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `postgres://muster@127.0.0.1:${this.#port}/postgres`;
  }

  log(): string {
    const path = join(this.#folder, "log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Another process may take the port between our finding it and Postgres' binding it. */
  async startOnFreePort(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#port = await freePort();
      try {
        await this.start();
        return;
      } catch (error) {
        if (attempt === 3) throw error;
      }
    }
  }

  /**
   * After a kill the old backends need a moment to notice that their parent is gone, and a new
   * server refuses to run beside them: try again until they are.
   */
  async start(): Promise<void> {
    const deadline = Date.now() + 30_000;
    for (;;) {
      const before = this.log().length;
      const child = this.#spawn();
      if (await this.#comesUp(child, deadline)) return;
      await this.kill();
      const said = this.log().slice(before);
      if (said.includes("shared memory block") && Date.now() < deadline) continue;
      throw new Error(`Postgres did not come up. Its log ends with:\n${said.slice(-2000)}`);
    }
  }

  #spawn(): ChildProcess {
    const settings = { ...this.#settings, port: String(this.#port), unix_socket_directories: this.#folder };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = openSync(join(this.#folder, "log"), "a");
    // A session of its own: Ctrl-C is ours to handle, and must not reach it before the tests have ended.
    const child = spawn(this.#binary, ["-D", join(this.#folder, "data"), ...args], {
      cwd: this.#folder,
      stdio: ["ignore", log, log],
      detached: true,
      ...this.#user,
    });
    closeSync(log);
    this.#process = child;
    return child;
  }

  async #comesUp(child: ChildProcess, deadline: number): Promise<boolean> {
    let ended = false;
    child.once("exit", () => (ended = true));
    child.once("error", () => (ended = true));
    while (!(await this.#answers())) {
      if (ended || Date.now() > deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    // Somebody else's server may listen on the port that ours could not get.
    return !ended;
  }

  async #answers(): Promise<boolean> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 1000 });
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  stop(): Promise<void> {
    return this.#end("SIGINT");
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async #end(signal: "SIGINT" | "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    await exit;
    clearTimeout(timer);
  }

  /** The last resort when our process ends without closing us. Postgres' own children notice. */
  readonly #killNow = (): void => {
    this.#process?.kill("SIGQUIT");
    rmSync(this.#folder, { recursive: true, force: true });
  };

  async close(): Promise<void> {
    await this.stop();
    process.off("exit", this.#killNow);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
