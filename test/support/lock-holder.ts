/** A process that takes the lock of a data directory when it is told to, and says whether it got it. */
import { type DirectoryLock, lockDirectory } from "../../services/runtime/directory-lock.ts";

const folder = process.argv[2] ?? "";
let lock: DirectoryLock | undefined;

async function obey(order: unknown): Promise<void> {
  if (order === "release") {
    lock?.release();
    lock = undefined;
    process.send?.("released");
    return;
  }
  const result = await lockDirectory(folder);
  lock = "release" in result ? result : undefined;
  process.send?.(lock === undefined ? "refused" : "held");
}

process.on("message", (order) => void obey(order));
process.send?.("ready");
