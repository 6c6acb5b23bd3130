/**
 * Postgres refuses to run as root, and nothing that a test starts should. On a machine where the
 * tests run as root (a container), servers run as one of its system users.
 */
import { readFileSync } from "node:fs";

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** The first of the named users that exists, or undefined when we are not root and need none. */
export function unprivilegedUser(...names: readonly string[]): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of names) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`Running as root, and none of the users ${names.join(", ")} exists to run a server as.`);
}
