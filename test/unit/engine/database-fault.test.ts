import { describe, expect, it } from "vitest";
import { sqlState } from "../../../db/transaction.ts";
import { asFault, isFateUnknown } from "../../../services/engine/database-fault.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`write ${code}`), { code });
}

describe("an error of the database's connection", () => {
  // EPIPE has five characters, as a SQLSTATE has: taken for one, it would pass for a refusal of the server.
  it.each(["EPIPE", "ECONNRESET", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"])(
    "%s is told as unavailable, and leaves open whether the transaction was committed",
    (code) => {
      expect(sqlState(systemError(code))).toBeUndefined();
      expect(asFault(systemError(code)).code).toBe("unavailable");
      expect(isFateUnknown(systemError(code))).toBe(true);
    },
  );

  // What node-postgres says of a statement that is sent after the connection broke between two of them.
  it.each([
    "Client has encountered a connection error and is not queryable",
    "Client was closed and is not queryable",
    "Connection terminated unexpectedly",
  ])("is told as unavailable when the driver says: %s", (message) => {
    expect(asFault(new Error(message)).code).toBe("unavailable");
    expect(isFateUnknown(new Error(message))).toBe(true);
  });

  it("is not what the server itself refuses", () => {
    const refused = Object.assign(new Error("duplicate key"), { code: "23505" });
    expect(sqlState(refused)).toBe("23505");
    expect(isFateUnknown(refused)).toBe(false);
    expect(asFault(refused).code).toBe("INTERNAL_ERROR");
    expect(sqlState(Object.assign(new Error("raised"), { code: "P0001" }))).toBe("P0001");
    expect(sqlState(Object.assign(new Error("internal"), { code: "XX000" }))).toBe("XX000");
  });
});

describe("a value that the database cannot take", () => {
  it.each(["22021", "22P05", "22P02", "22003", "22008"])(
    "%s is the caller's to correct, and tells nothing of the statement",
    (code) => {
      const error = asFault(Object.assign(new Error("select secret from items"), { code }));
      expect(error.code).toBe("VALIDATION_ERROR");
      expect(error.message).not.toContain("secret");
    },
  );

  it("is not a mistake in our own statement, such as a division by zero", () => {
    expect(asFault(Object.assign(new Error("division"), { code: "22012" })).code).toBe("INTERNAL_ERROR");
  });
});
