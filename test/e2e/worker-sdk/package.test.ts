/**
 * The package as its users get it: packed, installed into an empty folder without a
 * network, type-checked and run on its own.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../../services/worker-sdk/version.ts";
import { startRealMuster } from "./real-muster.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const PACKAGE = join(ROOT, "services/worker-sdk");

interface Manifest {
  readonly version: string;
  readonly dependencies: Record<string, string>;
}

let folder: string;
let files: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "muster-sdk-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: PACKAGE });
  const packed = readPacked(stdout);
  files = packed.files.map(({ path }) => path);
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "empty", private: true, type: "module" }),
  );
  // What it depends on comes from this tree, so that the test needs no registry.
  const dependencies = ["zod"].map((name) => join(ROOT, "node_modules", name));
  const quiet = ["--offline", "--install-links", "--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...quiet, join(folder, packed.filename), ...dependencies], { cwd: folder });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Packed {
  readonly filename: string;
  readonly files: { readonly path: string }[];
}

/** npm 12 answers an object by package name, older ones a list; scripts may print before it. */
function readPacked(stdout: string): Packed {
  const parsed = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as Record<string, Packed>;
  const [packed] = Object.values(parsed);
  if (packed === undefined) throw new Error(`npm pack said nothing of a package: ${stdout}`);
  return packed;
}

async function manifestOf(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, "utf8")) as Manifest;
}

describe("the published package", () => {
  it("depends on zod alone and says its version truly", async () => {
    const manifest = await manifestOf(join(folder, "node_modules/@muster/worker-sdk/package.json"));
    expect(Object.keys(manifest.dependencies)).toEqual(["zod"]);
    expect(manifest.version).toBe(VERSION);
  });

  it("holds built code and types, and no sources or tests", () => {
    expect(files).toContain("README.md");
    expect(files).toContain("dist/worker-sdk/index.js");
    expect(files).toContain("dist/worker-sdk/heartbeat-thread.js");
    expect(files.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
  });

  it("has types that a strict program can use", async () => {
    const program = `
      import { complete, createClient, createWorker, fail, runCommandWorker, type Handler, type Selector } from "@muster/worker-sdk";
      const selector: Selector = { tags: "build", orderBy: "oldest", createdAfter: "2026-01-01" };
      const handler: Handler = async (item, { signal, fence }) => (signal.aborted ? fail(item.title) : complete({ summary: String(fence) }));
      const agent = { id: "a", kind: "subagent" } as const;
      export const worker = createWorker({ url: "http://localhost:3001", agent, selector, handler });
      const { claim } = await createClient({ url: "http://localhost:3001", agent }).claim({ selector, start: true });
      export const fenceOrWhy: number | string = claim.outcome === "success" ? claim.fence : claim.hint;
      // @ts-expect-error -- An ordering that does not exist.
      export const wrong: Selector = { orderBy: "newest first" };
      // @ts-expect-error -- A command is needed.
      export const missing = runCommandWorker({ url: "http://localhost:3001", agent });
    `;
    await writeFile(join(folder, "program.ts"), program);
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      module: "nodenext",
      target: "es2023",
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: { ...compilerOptions, lib: ["es2023", "dom"], types: [] },
        files: ["program.ts"],
      }),
    );
    const { stdout } = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  });

  it("drains the queue of a real server by itself, heartbeats included, and its process ends", async () => {
    await using muster = await startRealMuster();
    const ids = await muster.plant(["a", "b", "c", "d", "e"]);
    const program = `
      import { createWorker } from "@muster/worker-sdk";
      let renewed = 0;
      const worker = createWorker({
        url: process.env.MUSTER_URL, agent: { id: "packed", kind: "subagent" }, slots: 2, ttlSeconds: 3, untilEmpty: true,
        handler: () => new Promise((resolve) => setTimeout(resolve, 1_300)),
        onEvent: (event) => { if (event.type === "renewed") renewed += event.count; },
      });
      await worker.run();
      console.log(JSON.stringify({ renewed }));
    `;
    await writeFile(join(folder, "drain.js"), program);
    const env = { ...process.env, MUSTER_URL: muster.url };
    const { stdout } = await run(process.execPath, ["drain.js"], { cwd: folder, env });
    expect((JSON.parse(stdout) as { renewed: number }).renewed).toBeGreaterThan(0);
    for (const id of ids) expect(await muster.ends(id)).toEqual(["completed"]);
  });
});
