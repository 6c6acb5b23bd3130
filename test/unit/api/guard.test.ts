import { describe, expect, it } from "vitest";
import { createGuard } from "../../../services/api/http/guard.ts";

const guard = createGuard({
  host: "127.0.0.1",
  publicUrl: "https://muster.example/app",
  allowedHosts: ["box.lan:3001", "fe80::1"],
});
const allows = (host: string | undefined, origin?: string): boolean =>
  guard({ ...(host !== undefined && { host }), ...(origin !== undefined && { origin }) }) === null;

describe("the Host check", () => {
  it.each([
    "localhost:3001",
    "LOCALHOST",
    "127.0.0.1:9",
    "[::1]:3001",
    "muster.example",
    "box.lan",
    "[fe80::1]:80",
  ])("serves %s", (host) => expect(allows(host)).toBe(true));

  it.each([
    undefined,
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.2",
    "localhost@evil.example",
    "a b",
    "localhost/x",
  ])("refuses %s", (host) => expect(allows(host)).toBe(false));

  it("does not take the address of all interfaces for a name", () => {
    const open = createGuard({ host: "0.0.0.0", allowedHosts: [] });
    expect(open({ host: "0.0.0.0:3001" })).not.toBeNull();
  });
});

describe("the Origin check", () => {
  it("serves programs, which send none, and pages of this server", () => {
    expect(allows("localhost")).toBe(true);
    expect(allows("localhost", "http://localhost:5173")).toBe(true);
    expect(allows("localhost", "https://muster.example")).toBe(true);
  });

  it.each([
    "null",
    "",
    "http://evil.example",
    "file://",
    "chrome-extension://abc",
    "http://localhost@evil.example",
  ])("refuses a page of %s", (origin) => expect(allows("localhost", origin)).toBe(false));
});
