import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDataDirectory, readServerAddress } from "../../../services/runtime/data-directory.ts";
import { lockDirectory } from "../../../services/runtime/directory-lock.ts";
import { identityOf, isRunning } from "../../../services/runtime/process-identity.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "muster-data-"));
});
afterEach(async () => {
  await killHolders();
  rmSync(folder, { recursive: true, force: true });
});

/** A number that Linux gives to no process. */
const NOBODY = 2 ** 22 + 1;

const children: ChildProcess[] = [];

async function startHolders(count: number): Promise<ChildProcess[]> {
  const program = join(import.meta.dirname, "../../support/lock-holder.ts");
  const started = Array.from({ length: count }, () => fork(program, [folder]));
  children.push(...started);
  await Promise.all(started.map((child) => once(child, "message")));
  return started;
}

/** Sends an order and resolves with the answer. */
async function order(child: ChildProcess | undefined, what: "lock" | "release"): Promise<unknown> {
  if (child === undefined) throw new Error("No process was started.");
  const answer = once(child, "message");
  child.send(what);
  return ((await answer) as unknown[])[0];
}

async function killHolders(): Promise<void> {
  const exits = children.splice(0).map((child) => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    return exit;
  });
  await Promise.all(exits);
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("a data directory", () => {
  it("is made for its owner alone", async () => {
    const path = join(folder, "a", "b");
    const directory = await openDataDirectory(path);
    expect(modeOf(path)).toBe("700");
    directory.release();
  });

  it("is refused where no folder can be made, with the way out", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    // The second is no folder of anybody's: Node's recursive mkdir tries there for ever.
    const nowhere = [join(file, "a", "b"), ...(process.platform === "linux" ? ["/proc/nope/a"] : [])];
    for (const path of nowhere)
      await expect(openDataDirectory(path)).rejects.toThrow(/cannot be used: .*Set MUSTER_DATA_DIR/);
  });

  it("is served by one process: a second one is told where the first listens, and ends with 69", async () => {
    const directory = await openDataDirectory(folder);
    directory.announce({ url: "http://127.0.0.1:3001", pid: process.pid, version: "1.0.0" });
    await expect(openDataDirectory(folder)).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringMatching(/already served.*http:\/\/127\.0\.0\.1:3001/s) as string,
    });
    directory.release();
    (await openDataDirectory(folder)).release();
  });

  it("leaves nothing behind but what it keeps", async () => {
    const directory = await openDataDirectory(folder);
    directory.announce({ url: "http://127.0.0.1:1", pid: process.pid, version: "1.0.0" });
    directory.secretKey();
    directory.release();
    expect(readdirSync(folder)).toEqual(["secret-key"]);
  });

  it("announces to its owner alone, and reads back what it announced", async () => {
    const directory = await openDataDirectory(folder);
    const server = { url: "http://127.0.0.1:3001", pid: process.pid, version: "1.0.0" };
    directory.announce(server);
    expect(readServerAddress(folder)).toEqual(server);
    expect(modeOf(join(folder, "server.json"))).toBe("600");
    directory.release();
    expect(readServerAddress(folder)).toBeNull();
  });

  it("takes a damaged announcement for none", () => {
    writeFileSync(join(folder, "server.json"), '{"url": ');
    expect(readServerAddress(folder)).toBeNull();
  });

  it("makes a secret key once, for its owner alone, and keeps it", async () => {
    const first = await openDataDirectory(folder);
    const key = first.secretKey();
    expect(Buffer.from(key, "base64url")).toHaveLength(32);
    expect(modeOf(join(folder, "secret-key"))).toBe("600");
    first.release();
    const second = await openDataDirectory(folder);
    expect(second.secretKey()).toBe(key);
    second.release();
  });

  it("that cannot be made is said so in one line, with 69", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(openDataDirectory(join(folder, "file", "data"))).rejects.toMatchObject({ exitCode: 69 });
  });
});

describe("the lock of a directory", () => {
  it("of a process that was killed is taken over", async () => {
    const [holder] = await startHolders(1);
    expect(await order(holder, "lock")).toBe("held");
    expect(await lockDirectory(folder)).toMatchObject({ pid: holder?.pid });
    await killHolders();
    expect(await lockDirectory(folder)).toHaveProperty("release");
  });

  it("of an earlier process with our own number is taken over: in a container every start is process 1", async () => {
    writeFileSync(join(folder, "lock"), JSON.stringify({ pid: process.pid, startedAt: "1" }));
    expect(await lockDirectory(folder)).toHaveProperty("release");
  });

  it("is won by one of many processes that find it stale together", async () => {
    const holders = await startHolders(4);
    for (let round = 0; round < 25; round += 1) {
      writeFileSync(join(folder, "lock"), JSON.stringify({ pid: NOBODY, startedAt: "1" }));
      const answers = await Promise.all(holders.map((holder) => order(holder, "lock")));
      expect(answers.map(String).toSorted()).toEqual(["held", "refused", "refused", "refused"]);
      await Promise.all(holders.map((holder) => order(holder, "release")));
    }
  });

  it("that is damaged stops nobody", async () => {
    writeFileSync(join(folder, "lock"), "not json");
    expect(await lockDirectory(folder)).toHaveProperty("release");
  });

  it("is released by its holder only", async () => {
    const lock = await lockDirectory(folder);
    if (!("release" in lock)) throw new Error("The folder was free.");
    const other = JSON.stringify({ pid: 1, startedAt: "7" });
    writeFileSync(join(folder, "lock"), other);
    lock.release();
    expect(readFileSync(join(folder, "lock"), "utf8")).toBe(other);
  });
});

describe("the identity of a process", () => {
  it("tells ours from an earlier one with the same number", () => {
    const self = identityOf(process.pid);
    expect(isRunning(self)).toBe(true);
    expect(isRunning({ pid: process.pid, startedAt: "1" })).toBe(self.startedAt === null);
    expect(isRunning({ pid: NOBODY, startedAt: null })).toBe(false);
  });
});
