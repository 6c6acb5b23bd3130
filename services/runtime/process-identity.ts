/**
 * Tells a process from a later one that was given the same number: in a container, every start of
 * a server is process 1.
 */
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in ticks since the machine did; null where the system does not say. */
  readonly startedAt: string | null;
}

/** The 22nd field of /proc/<pid>/stat. The 2nd is a name in brackets that may hold anything, spaces too. */
const FIELDS_AFTER_NAME = 19;

export function identityOf(pid: number): ProcessIdentity {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, startedAt: fields[FIELDS_AFTER_NAME] ?? null };
  } catch {
    return { pid, startedAt: null };
  }
}

/** Whether the process that had this identity still runs. Where in doubt, it does. */
export function isRunning(identity: ProcessIdentity): boolean {
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // Somebody else's process runs too: we may only not signal it.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = identityOf(identity.pid).startedAt;
  return identity.startedAt === null || now === null || now === identity.startedAt;
}
