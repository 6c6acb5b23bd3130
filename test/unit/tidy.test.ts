/**
 * The state of the tree: what no tool checks for us and no reader should have to find.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const LINES_MAX = 300;

/** What is in the repository, or would be with the next commit. */
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(ROOT, file)));

const sources = files.filter((file) => /\.(ts|mjs)$/.test(file));
/** All text but this file, which names what it looks for. */
/** All text but this file, which names what it looks for. */
const texts = files.filter(
  (file) =>
    file !== "test/unit/tidy.test.ts" &&
    /\.(ts|mjs|json|jsonc|ya?ml|md|sh|lua|sql)$|(^|\/)(run|\.npmrc)$/.test(file),
);

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

describe("the tree", () => {
  it("has no source file that is too long to be read at once", () => {
    const long = sources
      .filter((file) => !/^(test|db\/migrations)\//.test(file))
      .map((file) => ({ file, lines: read(file).split("\n").length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX);
    expect(long).toEqual([]);
  });

  it("has no file or folder that is a drawer for everything", () => {
    const drawer = /^(utils?|helpers?|common|managers?|misc|shared)$/;
    const named = files.filter((file) =>
      file.split("/").some((part) => drawer.test(part.replace(/\..*$/, ""))),
    );
    expect(named).toEqual([]);
  });

  it("has file names in kebab case", () => {
    const odd = sources.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(basename(file)));
    expect(odd).toEqual([]);
  });

  it("knows nothing of the machine it was written on", () => {
    const folders = ["work/", "root/", "home/[a-z]", "Users/[a-z]", "tmp/[a-z]+/"];
    const traces = folders.map((folder) => new RegExp(`(^|[\\s"'\`(=])/${folder}`, "m"));
    const found = texts.filter((file) => traces.some((trace) => trace.test(read(file))));
    expect(found).toEqual([]);
  });

  it("names no package registry, so that everybody installs from their own", () => {
    const registry = /registry\.[a-z]+js\.|npmmirror|yarnpkg\.com|artifactory/;
    const found = texts.filter((file) => registry.test(read(file)));
    expect(found).toEqual([]);
    expect(read("package-lock.json")).not.toContain('"resolved"');
  });

  it("pins every dependency to one version", () => {
    const ranges = Object.entries(dependencies()).filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version));
    expect(ranges).toEqual([]);
  });

  it.runIf(existsSync(join(ROOT, "docs/dependencies.md")))("explains every dependency", () => {
    const explained = read("docs/dependencies.md");
    const missing = Object.keys(dependencies()).filter((name) => !explained.includes(`\`${name}\``));
    expect(missing).toEqual([]);
  });
});

describe("the tests", () => {
  const suites = files.filter((file) => file.endsWith(".test.ts"));

  it.each(suites)("say each behaviour once in %s", (file) => {
    expect(duplicates(testTitles(read(file)))).toEqual([]);
  });

  it("await signals and move the clock; a sleep says in a comment what can only be had in real time", () => {
    const sleeping = suites.flatMap((file) =>
      sleepsWithoutReason(read(file)).map((line) => `${file}:${line}`),
    );
    expect(sleeping).toEqual([]);
  });

  it("are all run: none is kept from running or keeps others from it", () => {
    const marked = suites.filter((file) => /\b(it|test|describe)\.(only|skip|todo)\b/.test(read(file)));
    expect(marked).toEqual([]);
  });
});

function dependencies(): Record<string, string> {
  const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  return { ...manifest["dependencies"], ...manifest["devDependencies"] };
}

/** Titles with the innermost `describe` that stands before them; the formatter keeps the layout that this reads. */
function testTitles(source: string): string[] {
  let suite = "";
  return source.split("\n").flatMap((line) => {
    const opened = /^\s*describe[\w.]*\(.*?(["'`].+)/.exec(line);
    if (opened) suite = opened[1] ?? "";
    const title = /^\s*(?:it|test)(?:\.\w+)*\(\s*(["'`].+?["'`]),/.exec(line);
    return title ? [`${suite} > ${title[1]}`] : [];
  });
}

/** Numbers of the lines that sleep for 100 ms or more without a comment there or just above. */
function sleepsWithoutReason(source: string): number[] {
  const lines = source.split("\n");
  return lines.flatMap((line, index) => {
    const sleeps = /await (sleep|delay|wait|setTimeout)\(\s*[\d_]{3,}/.test(line);
    return sleeps && !`${lines[index - 1]}${line}`.includes("//") ? [index + 1] : [];
  });
}

function duplicates(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
