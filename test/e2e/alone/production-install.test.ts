/**
 * What the image holds and how it runs, without an image: only what production needs, in a folder
 * that cannot be written to, as a user without rights, by the image's own command line.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { unprivilegedUser } from "../../support/unprivileged-user.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const DOCKERFILE = readFileSync(join(ROOT, "Dockerfile"), "utf8");

let folder: string;
let app: string;
beforeAll(async () => {
  // Not in the folder of this run: that one is closed to other users.
  folder = mkdtempSync(join(tmpdir(), "muster-production-"));
  chmodSync(folder, 0o755);
  app = join(folder, "muster");
  mkdirSync(app);
  for (const source of copiedSources()) cpSync(join(ROOT, source), join(app, source), { recursive: true });
  await run("npm", installCommand(), { cwd: app });
  await run("chmod", ["-R", "a-w", app]);
});
afterAll(async () => {
  await run("chmod", ["-R", "u+w", app]);
  rmSync(folder, { recursive: true, force: true });
});

/** What the Dockerfile copies out of the project. */
function copiedSources(): string[] {
  const lines = DOCKERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  return [...new Set([...lines].flatMap(([, sources = ""]) => sources.split(" ")))];
}

function installCommand(): string[] {
  const command = /^RUN npm (.+)$/m.exec(DOCKERFILE)?.[1];
  if (command === undefined) throw new Error("the Dockerfile installs nothing");
  return command.split(" ");
}

/** The image's entry point, without the name of the runtime. */
function entryPoint(): string[] {
  const [, ...words] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(DOCKERFILE)?.[1] ?? "[]") as string[];
  return words;
}

it("starts with nothing but what production needs, and writes nowhere but into its data folder", async () => {
  const user = unprivilegedUser("nobody", "daemon");
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const [command] = JSON.parse(/^CMD (.+)$/m.exec(DOCKERFILE)?.[1] ?? "[]") as [string];
  const child = spawn(process.execPath, [...entryPoint(), command, "--json"], {
    cwd: app,
    env: { PATH: process.env["PATH"], NODE_ENV: "production", MUSTER_DATA_DIR: data, MUSTER_PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  });
  const ended = once(child, "close");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const up = Promise.withResolvers<string>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const url = /"url":"([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) up.resolve(url);
  });
  void ended.then(([code]) => up.reject(new Error(`it ended with ${String(code)}: ${said}`)));
  const ready = await fetch(`${await up.promise}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { ready: true }]);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

it("has no package in it that only development needs", async () => {
  const { stdout } = await run("npm", ["ls", "--omit=dev", "--all", "--parseable"], { cwd: app });
  expect(stdout).not.toMatch(/node_modules\/(vitest|typescript|oxlint|knip|fast-check)\n/);
});
