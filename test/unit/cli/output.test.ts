import { describe, expect, it } from "vitest";
import { bannerText, stdioEntry, type Started } from "../../../services/cli/start/banner.ts";
import { dataDirectories } from "../../../services/cli/find-server.ts";
import { duration, oneLine, table } from "../../../services/cli/output.ts";

describe("what commands print", () => {
  it("lines columns up and leaves no blanks at the ends of lines", () => {
    expect(table(["A", "LONGER"], [["wide one", "x"]])).toBe("A         LONGER\nwide one  x");
  });

  it("tells durations in the two units that matter", () => {
    expect([0, 59_400, 65_000, 3_660_000, -5].map(duration)).toEqual(["0s", "59s", "1m 05s", "1h 01m", "0s"]);
  });

  it("keeps control characters of titles from the terminal, and long titles short", () => {
    expect(oneLine("a\u001b[2Jb\nc")).toBe("a [2Jb c");
    expect(oneLine("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`);
  });
});

describe("what a start prints", () => {
  const started: Started = {
    version: "1.2.3",
    url: "http://127.0.0.1:3001",
    dataDir: "/data",
    database: "embedded",
    node: "/bin/node",
    program: "/muster/main.ts",
  };

  it("begins with the line that programs wait for", () => {
    expect(bannerText(started).split("\n")[0]).toBe("Muster 1.2.3 listening on http://127.0.0.1:3001");
  });

  it("holds an entry that works from any folder, for this data directory", () => {
    expect(stdioEntry(started)).toEqual({
      mcpServers: {
        muster: { command: "/bin/node", args: ["/muster/main.ts", "mcp"], env: { MUSTER_DATA_DIR: "/data" } },
      },
    });
  });
});

describe("where a server is looked for", () => {
  it("in the configured directory, then upward from here, each once", () => {
    expect(dataDirectories("/a/b/.muster", "/a/b")).toEqual(["/a/b/.muster", "/a/.muster", "/.muster"]);
  });
});
