import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSessions, readPlainSession } from "../../../services/api/session.ts";

const sessions = createSessions("secret one");

describe("a signed session", () => {
  it("is known to every replica that has the same secret, with the client's label", () => {
    const header = sessions.mint({ name: "agent-host", version: "2.1" });
    const replica = createSessions("secret one");
    expect(replica.verify(header)).toEqual({
      session: expect.stringMatching(/^mcp-[\w-]{22}$/) as string,
      client: { name: "agent-host", version: "2.1" },
    });
    expect(replica.verify(header)).toEqual(sessions.verify(header));
  });

  it("is unknown to a server with another secret", () => {
    expect(createSessions("secret two").verify(sessions.mint(null))).toBeNull();
  });

  it("survives whatever the client calls itself, in visible ASCII and of bounded length", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.string({ maxLength: 300 }),
        (name, version) => {
          const header = sessions.mint({ name, version });
          expect(header).toMatch(/^[\x21-\x7e]{1,1024}$/);
          expect(sessions.verify(header)).not.toBeNull();
        },
      ),
    );
  });

  it("is refused after any change of a character", () => {
    const header = sessions.mint({ name: "agent-host", version: "2.1" });
    const known = sessions.verify(header);
    fc.assert(
      fc.property(
        fc.nat(header.length - 1),
        fc.constantFrom("A", "B", "a", "0", "1", "-", "_", "."),
        (index, character) => {
          const changed = header.slice(0, index) + character + header.slice(index + 1);
          // The last character of base64url carries unused bits; a change there may name the same bytes.
          const verdict = sessions.verify(changed);
          if (changed !== header && index < header.length - 1) expect(verdict).toBeNull();
          else if (verdict !== null) expect(verdict).toEqual(known);
        },
      ),
    );
  });

  it("is refused when cut short, lengthened or made up", () => {
    const header = sessions.mint(null);
    for (const other of [
      "",
      "ms1",
      "ms1...",
      `${header}.x`,
      `${header}${"A".repeat(2_000)}`,
      header.slice(0, -4),
    ]) {
      expect(sessions.verify(other)).toBeNull();
    }
  });
});

describe("a session the caller names itself", () => {
  it("has the shape of a workerId", () => {
    expect(readPlainSession("stdio-1b2c")).toBe("stdio-1b2c");
    expect(readPlainSession("has spaces")).toBeNull();
    expect(readPlainSession("a".repeat(201))).toBeNull();
    expect(readPlainSession("")).toBeNull();
  });
});
