/**
 * A real Redis (or Valkey) of one's own, which a test may freeze, kill, flush and bring back:
 * nothing it remembers survives a stop, as the port promises to stand.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinary } from "./find-binary.ts";
import { freePort } from "./free-port.ts";
import { type SystemUser, unprivilegedUser } from "./unprivileged-user.ts";

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends it; connections break. */
  stop(): Promise<void>;
  /** Dies at once. */
  kill(): Promise<void>;
  /** Comes back on the same port with an empty memory. */
  start(): Promise<void>;
  /** Freezes it: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whether this machine has what {@link startRedis} needs. */
export function hasRedis(): boolean {
  return findBinary("redis-server", "valkey-server") !== undefined;
}

export async function startRedis(): Promise<RedisServer> {
  const binary = findBinary("redis-server", "valkey-server");
  if (binary === undefined) throw new Error("Redis is not installed here.");
  const user = unprivilegedUser("redis", "valkey", "nobody");
  const folder = mkdtempSync(join(tmpdir(), "muster-redis-"));
  if (user) chownSync(folder, user.uid, user.gid);
  const server = new Server(binary, folder, user);
  try {
    await server.startOnFreePort();
    return server;
  } catch (error) {
    await server.close();
    throw new Error("Redis could not be started.", { cause: error });
  }
}

class Server implements RedisServer {
  readonly #binary: string;
  readonly #folder: string;
  readonly #user: SystemUser | undefined;
  #port = 0;
  #process: ChildProcess | undefined;

  constructor(binary: string, folder: string, user: SystemUser | undefined) {
    this.#binary = binary;
    this.#folder = folder;
    this.#user = user;
    process.once("exit", this.#killNow);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Another process may take the port between our finding it and Redis' binding it. */
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

  async start(): Promise<void> {
    const args = ["--port", String(this.#port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const memory = ["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"];
    // A session of its own: Ctrl-C is ours to handle, and must not reach it before the tests have ended.
    const child = spawn(this.#binary, [...args, ...memory], {
      stdio: "ignore",
      detached: true,
      ...this.#user,
    });
    this.#process = child;
    let ended = false;
    child.once("exit", () => (ended = true));
    child.once("error", () => (ended = true));
    const deadline = Date.now() + 15_000;
    while (!(await takesConnections(this.#port))) {
      if (ended || Date.now() > deadline) throw new Error(`Redis did not come up on port ${this.#port}.`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    if (ended) throw new Error(`Port ${this.#port} is somebody else's.`);
  }

  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  stop(): Promise<void> {
    // A frozen process would take the signal only after it is thawed.
    this.resume();
    return this.#end("SIGTERM");
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
  }

  /** The last resort when our process ends without closing us. */
  readonly #killNow = (): void => {
    this.#process?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  };

  async close(): Promise<void> {
    await this.kill();
    process.off("exit", this.#killNow);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = createConnection({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
