/**
 * Bodies that are read from files of the server: logs and diffs that an agent would otherwise
 * have to paste. Off unless a folder is configured, and then nothing outside of it is read:
 * a path has no `..`, does not start at the root, and meets no symbolic link on its way. What
 * was opened is looked at once more, so that swapping a folder for a link in between gains
 * nothing.
 */
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { fault, type MusterError } from "../../contract/errors.ts";
import { NOTE_BODY_SIZE_MAX_BYTES } from "../../contract/limits.ts";

/**
 * The text of a file below `folder`.
 * @param folder null where reading files is off
 * @throws validation_failed, RESOURCE_NOT_FOUND, NOTE_BODY_TOO_LARGE; none of them says more of the machine than the path that was asked for
 */
export async function readBodyFile(folder: string | null, path: string): Promise<string> {
  if (folder === null) {
    throw fault("validation_failed", "bodyFromFile is off: no folder for it is configured on this server", {
      hint: "Send the text as body.",
    });
  }
  const parts = partsOf(path);
  let at = folder;
  for (const part of parts) {
    at = join(at, part);
    // Looked at one by one: a link in the middle leads out as well as one at the end.
    const seen = await lstat(at).catch(() => null);
    if (seen === null) throw absent(path);
    if (seen.isSymbolicLink()) throw refused(path, "leads through a symbolic link");
  }
  return await readWhole(join(await realpath(folder), ...parts), path);
}

function partsOf(path: string): string[] {
  const parts = path.split(/[/\\]/);
  if (isAbsolute(path) || /^[a-z]:/i.test(path))
    throw refused(path, "is absolute; send it relative to the folder");
  if (parts.includes("..")) throw refused(path, "leads upwards");
  if (path.includes("\0")) throw refused(path, "holds a NUL character");
  const named = parts.filter((part) => part !== "" && part !== ".");
  if (named.length === 0) throw refused(path, "names no file");
  return named;
}

async function readWhole(file: string, path: string): Promise<string> {
  // Without waiting: opening a pipe would otherwise wait for its writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const seen = await lstat(file).catch(() => null);
  const handle = await open(file, flags).catch(() => null);
  if (seen === null || handle === null) {
    await handle?.close();
    throw absent(path);
  }
  try {
    const opened = await handle.stat();
    if (!opened.isFile()) throw refused(path, "is not a file");
    if (opened.ino !== seen.ino || opened.dev !== seen.dev)
      throw refused(path, "changed while it was opened");
    if (opened.size > NOTE_BODY_SIZE_MAX_BYTES) throw tooLarge(path, opened.size);
    // One byte more than allowed: a file may grow after it was measured.
    const buffer = Buffer.alloc(NOTE_BODY_SIZE_MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      length += bytesRead;
      if (bytesRead === 0) break;
      if (length > NOTE_BODY_SIZE_MAX_BYTES) throw tooLarge(path, length);
    }
    return decode(buffer.subarray(0, length), path);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused(path, "is not UTF-8 text");
  }
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

function refused(path: string, why: string): MusterError {
  return fault("validation_failed", `bodyFromFile ${shown(path)} ${why}`);
}

function absent(path: string): MusterError {
  return fault("RESOURCE_NOT_FOUND", `bodyFromFile ${shown(path)} does not exist in the configured folder`, {
    hint: "Check the path; it is relative to the folder that the server reads from.",
  });
}

function tooLarge(path: string, size: number): MusterError {
  const message = `bodyFromFile ${shown(path)} has ${size} bytes; at most ${NOTE_BODY_SIZE_MAX_BYTES}`;
  return fault("NOTE_BODY_TOO_LARGE", message, {
    details: { maxBytes: NOTE_BODY_SIZE_MAX_BYTES, actualBytes: size },
  });
}
