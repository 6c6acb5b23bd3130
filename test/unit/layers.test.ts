/**
 * The linter holds the layers apart, so the linter is tested: a rule that matches nothing would
 * be green for ever. A small tree breaks every rule on purpose.
 */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const tree = mkdtempSync(join(tmpdir(), "muster-layers-"));
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** From, to, and whether the arrow is allowed. */
const ARROWS: readonly (readonly [file: string, imports: string, allowed: boolean])[] = [
  ["services/core/a.ts", "./b.ts", true],
  ["services/core/claims/a.ts", "../b.ts", true],
  ["services/core/claims/a.ts", "../../contract/b.ts", false],
  ["services/core/a.ts", "zod", false],
  ["services/core/a.ts", "node:fs", false],
  ["services/contract/a.ts", "../core/b.ts", true],
  ["services/contract/a.ts", "zod", true],
  ["services/contract/a.ts", "../engine/b.ts", false],
  ["services/worker-sdk/a.ts", "../contract/b.ts", true],
  ["services/worker-sdk/a.ts", "../core/b.ts", false],
  ["services/worker-sdk/a.ts", "zod", false],
  ["services/engine/items/a.ts", "../../../db/stores/b.ts", true],
  ["services/engine/items/a.ts", "../../coordination/port.ts", true],
  ["services/engine/items/a.ts", "../../coordination/other.ts", false],
  ["services/engine/items/a.ts", "../../coordination/redis/b.ts", false],
  ["services/engine/items/a.ts", "../../../db/dialects/b.ts", false],
  ["services/engine/items/a.ts", "pg", false],
  ["services/engine/items/a.ts", "../../api/b.ts", false],
  ["services/api/a.ts", "../engine/b.ts", true],
  ["services/api/a.ts", "../../db/stores/b.ts", false],
  ["services/api/a.ts", "../../db/open.ts", false],
  ["services/api/a.ts", "kysely", false],
  ["services/api/main.ts", "../../db/open.ts", true],
  ["services/api/main.ts", "../coordination/redis/b.ts", true],
  ["services/api/main.ts", "../../db/stores/b.ts", false],
  ["services/api/main.ts", "kysely", false],
  ["services/scheduler/a.ts", "bullmq", true],
  ["services/scheduler/a.ts", "../api/b.ts", false],
  ["services/cli/a.ts", "../worker-sdk/b.ts", true],
  ["services/cli/a.ts", "../engine/b.ts", false],
  ["services/cli/a.ts", "../utils/b.ts", false],
  ["db/stores/a.ts", "../../services/core/b.ts", true],
  ["db/stores/a.ts", "../../services/engine/b.ts", false],
];

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

let refused: ReadonlySet<string>;

beforeAll(async () => {
  const lines = new Map<string, string[]>();
  for (const [file, imports] of ARROWS) lines.set(file, [...(lines.get(file) ?? []), imports]);
  for (const [file, imports] of lines) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), imports.map((from) => `export * from "${from}";\n`).join(""));
  }
  for (const file of ["oxlint.config.ts", "package.json"]) copyFileSync(join(ROOT, file), join(tree, file));
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  refused = new Set(
    (await lint()).map(({ filename, labels }) => {
      const line = labels[0]?.span.line ?? 0;
      return `${filename} ${lines.get(filename)?.[line - 1]}`;
    }),
  );
});

async function lint(): Promise<Diagnostic[]> {
  const oxlint = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const args = [oxlint, "--format=json", "services", "db"];
  // It ends with 1, since it finds what is to be found.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: tree }).catch(
    (error: unknown) => error as { stdout: string },
  );
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  return diagnostics.filter(({ code }) => code.includes("no-restricted-imports"));
}

describe("an arrow between layers", () => {
  it.each(ARROWS)("from %s to %s is allowed: %s", (file, imports, allowed) => {
    expect(refused.has(`${file} ${imports}`)).toBe(!allowed);
  });
});
