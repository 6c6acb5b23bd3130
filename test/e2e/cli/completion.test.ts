/** `muster completion`, as a shell uses it. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runMuster } from "../../support/processes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("completes nouns, verbs and options in bash", async () => {
  using folder = temporaryFolder();
  const { code, stdout } = await runMuster(["completion", "bash"], {});
  expect(code).toBe(0);
  const script = join(folder.path, "muster.bash");
  writeFileSync(script, stdout);
  const complete = (...words: string[]): string[] => {
    const typed = ["muster", ...words].map((word) => `"${word}"`).join(" ");
    const run = `source ${script}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _muster; echo "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", run], { encoding: "utf8" }).trim().split(" ");
  };
  expect(complete("cl")).toEqual(["claim"]);
  expect(complete("claim", "re")).toEqual(["refresh", "release", "revoke"]);
  expect(complete("claim", "revoke", "--dry")).toEqual(["--dry-run"]);
  expect(complete("claim", "list", "--agent", "dead", "--la")).toEqual(["--lapsed"]);
  expect(complete("mcp", "inst")).toEqual(["install"]);
});

it("knows zsh and fish, and no other shell", async () => {
  expect((await runMuster(["completion", "zsh"], {})).stdout).toContain("bashcompinit");
  expect((await runMuster(["completion", "fish"], {})).stdout).toContain("-a revoke");
  expect((await runMuster(["completion", "cmd"], {})).code).toBe(2);
});
