import { describe, expect, it } from "vitest";
import { createLog } from "../../../services/runtime/log.ts";
import { formatLine } from "../../../services/runtime/log-line.ts";
import { withoutCredentials } from "../../../services/runtime/redact.ts";

function capture(readable: boolean) {
  const lines: string[] = [];
  const log = createLog({ service: "api", readable, destination: { write: (line) => lines.push(line) } });
  return { log, lines };
}

describe("the log", () => {
  it("is one JSON object a line, with who speaks in every one", () => {
    const { log, lines } = capture(false);
    log.info({ item: "a1" }, "claim granted");
    const entry: unknown = JSON.parse(lines[0] ?? "");
    expect(entry).toMatchObject({ level: "info", service: "api", item: "a1", msg: "claim granted" });
    expect(entry).toHaveProperty("version");
    expect(entry).toHaveProperty("instance");
  });

  it("is readable on a terminal", () => {
    const { log, lines } = capture(true);
    log.warn({ tries: 3 }, "not reachable");
    expect(lines.join("")).toMatch(/^\d\d:\d\d:\d\d WARN {2}not reachable tries=3\n$/);
  });

  it("shows the stack of an error on a terminal, indented", () => {
    const { log, lines } = capture(true);
    log.error({ err: new Error("broken") }, "sweep failed");
    expect(lines.join("")).toMatch(/sweep failed\n {4}Error: broken\n {4} {4}at /);
  });

  it.each(["token", "authorization", "databaseUrl", "redisUrl", "secretKey", "proof"])(
    "never writes a field called %s, at whatever depth it was handed in",
    (name) => {
      const { log, lines } = capture(false);
      log.info(
        { [name]: "hunter2", request: { [name]: "hunter2", headers: { [name]: "hunter2" } } },
        "asked",
      );
      expect(lines.join("")).not.toContain("hunter2");
    },
  );

  it("takes the password out of an address in a driver's error", () => {
    const { log, lines } = capture(false);
    log.error({ err: new Error("cannot reach postgres://muster:hunter2@db:5432/m") }, "lost");
    expect(lines.join("")).not.toContain("hunter2");
    expect(lines.join("")).toContain("postgres://***@db:5432/m");
  });
});

describe("an address in a text", () => {
  it("loses user and password and keeps the rest", () => {
    expect(withoutCredentials("redis://:pw@host:6379/1 and http://plain/x@y")).toBe(
      "redis://***@host:6379/1 and http://plain/x@y",
    );
  });
});

describe("a line for people", () => {
  it("is passed on as it is when it is not an entry", () => {
    expect(formatLine("Listening\n", true)).toBe("Listening\n");
  });

  it("has colours only when asked for", () => {
    const line = JSON.stringify({ level: "error", time: new Date(0).toISOString(), msg: "gone" });
    expect(formatLine(line, false)).not.toContain("\u001B");
    expect(formatLine(line, true)).toContain("\u001B[31mERROR");
  });
});
