/**
 * One process serves a data directory. The lock is a file that names its holder, made by linking a
 * complete file into place: whoever reads it never sees half of one. A holder that died without
 * letting go is recognised and displaced.
 *
 * Displacing is "look, remove, make", and two processes that do it together could each remove the
 * other's new lock. So it is done inside a second lock, a folder that lives for the moment.
 */
import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { identityOf, isRunning, type ProcessIdentity } from "./process-identity.ts";

/** A displacement takes microseconds; a folder as old as this was left by a crash in the middle of one. */
const DISPLACEMENT_MAX_MS = 5_000;

export interface DirectoryLock {
  release(): void;
}

/** The lock, or the process that holds it. */
export async function lockDirectory(
  folder: string,
  self: ProcessIdentity = identityOf(process.pid),
): Promise<DirectoryLock | ProcessIdentity> {
  const path = join(folder, "lock");
  const draft = join(folder, `lock.${randomUUID()}`);
  writeFileSync(draft, JSON.stringify(self), { mode: 0o600 });
  try {
    for (;;) {
      if (tryLink(draft, path)) return { release: () => release(path, self) };
      const holder = readHolder(path);
      if (holder !== null && isRunning(holder)) return holder;
      if (!displace(folder, path)) await wait(20);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function tryLink(draft: string, path: string): boolean {
  return succeeds(() => linkSync(draft, path), "EEXIST");
}

/** Removes the lock of a dead holder. False when another process is at it: look again. */
function displace(folder: string, path: string): boolean {
  const guard = join(folder, "lock.displacing");
  if (!succeeds(() => mkdirSync(guard), "EEXIST")) {
    removeAbandoned(guard);
    return false;
  }
  try {
    // Looked at again inside the guard: the lock may be a new one by now.
    const holder = readHolder(path);
    if (holder === null || !isRunning(holder)) rmSync(path, { force: true });
    return true;
  } finally {
    rmdirSync(guard);
  }
}

function removeAbandoned(guard: string): void {
  const stats = statSync(guard, { throwIfNoEntry: false });
  if (stats === undefined || Date.now() - stats.mtimeMs < DISPLACEMENT_MAX_MS) return;
  succeeds(() => rmdirSync(guard), "ENOENT");
}

/** Null for a lock that is gone, or that is none of ours: nobody can hold it. */
function readHolder(path: string): ProcessIdentity | null {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8")) as Partial<ProcessIdentity>;
    return typeof holder.pid === "number" ? { pid: holder.pid, startedAt: holder.startedAt ?? null } : null;
  } catch {
    return null;
  }
}

function release(path: string, self: ProcessIdentity): void {
  const holder = readHolder(path);
  if (holder?.pid === self.pid && holder.startedAt === self.startedAt) rmSync(path, { force: true });
}

function succeeds(work: () => void, expected: "EEXIST" | "ENOENT"): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expected) return false;
    throw error;
  }
}
