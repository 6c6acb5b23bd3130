/**
 * The folder that a server which runs alone keeps everything in:
 *
 *   database/     the embedded database
 *   lock          names the process that serves it
 *   server.json   tells clients on this machine where it listens
 *   secret-key    signs session ids
 *
 * It is for its owner only: whoever reads it can act as the server.
 */
import { randomBytes, randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { lockDirectory } from "./directory-lock.ts";
import { UnavailableError } from "./exit.ts";

const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;
const SECRET_KEY_BYTES = 32;

const serverFile = z.object({ url: z.string(), pid: z.int(), version: z.string() });

/** Where the server of a data directory listens. */
export type ServerAddress = Readonly<z.output<typeof serverFile>>;

export interface DataDirectory {
  readonly path: string;
  /** Folder of the embedded database. */
  readonly databasePath: string;
  /** The key of this directory, made at its first use. */
  secretKey(): string;
  /** Tells clients where to find us, from the first moment that is true. */
  announce(server: ServerAddress): void;
  /** Takes the announcement back and lets the next process in. */
  release(): void;
}

/**
 * Makes the folder if it is missing, and takes it for this process.
 * @throws UnavailableError when another process serves it, or it cannot be written.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  makeFolder(path);
  const lock = await lockDirectory(path);
  if (!("release" in lock)) {
    const server = readServerAddress(path);
    const where = server === null ? "" : ` at ${server.url}`;
    throw new UnavailableError(
      `${path} is already served by process ${lock.pid}${where}. Use that one, stop it, or set MUSTER_DATA_DIR.`,
    );
  }
  const announcement = join(path, "server.json");
  return {
    path,
    databasePath: join(path, "database"),
    secretKey: () => readOrMakeSecret(path),
    announce: (server) => writeAtomically(announcement, `${JSON.stringify(serverFile.parse(server))}\n`),
    release: () => {
      if (readServerAddress(path)?.pid === process.pid) rmSync(announcement, { force: true });
      lock.release();
    },
  };
}

/** Where the server of this directory says it listens, or null. It may have died since: ask it. */
export function readServerAddress(path: string): ServerAddress | null {
  try {
    return serverFile.parse(JSON.parse(readFileSync(join(path, "server.json"), "utf8")));
  } catch {
    return null;
  }
}

function makeFolder(path: string): void {
  try {
    makeMissing(resolve(path));
    // The mode counts only for a folder that is made now.
    chmodSync(path, OWNER_ONLY_DIRECTORY);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UnavailableError(`The data directory ${path} cannot be used: ${cause}. Set MUSTER_DATA_DIR.`, {
      cause: error,
    });
  }
}

/** Level by level: where no folder can be made at all, Node's own recursion never comes back. */
function makeMissing(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeMissing(parent);
  try {
    mkdirSync(path, { mode: OWNER_ONLY_DIRECTORY });
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(path)) throw error;
  }
}

/** Linked into place when complete, and never over another: a key that was handed out stays the key. */
function readOrMakeSecret(folder: string): string {
  const path = join(folder, "secret-key");
  const present = readSecret(path);
  if (present !== null) return present;
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, `${randomBytes(SECRET_KEY_BYTES).toString("base64url")}\n`, { mode: OWNER_ONLY_FILE });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, "utf8").trim();
}

function readSecret(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A reader sees the old file or the new one, never half of one. */
function writeAtomically(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: OWNER_ONLY_FILE });
  renameSync(draft, path);
}
