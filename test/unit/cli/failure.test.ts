import { describe, expect, it } from "vitest";
import { failureOf } from "../../../services/cli/failure.ts";
import { fault } from "../../../services/contract/errors.ts";
import { ConfigError, UnavailableError } from "../../../services/runtime/exit.ts";
import { ConnectionError, MusterClientError } from "../../../services/worker-sdk/errors.ts";

describe("the exit code of a command", () => {
  it("is that of the error table, for a server's refusal and for ours", () => {
    const refused = new MusterClientError("No such item.", { code: "item_not_found", kind: "permanent" });
    expect(failureOf(refused)).toMatchObject({ exitCode: 3, code: "item_not_found" });
    expect(failureOf(fault("claim_lost", "It ended."))).toMatchObject({ exitCode: 4 });
  });

  it("is 1 for a code that only a newer server knows", () => {
    expect(failureOf(new MusterClientError("?", { code: "brand_new", kind: "permanent" })).exitCode).toBe(1);
  });

  it("tells what is away from what is wrongly configured", () => {
    expect(failureOf(new ConnectionError("No answer", "http://127.0.0.1:1", 1)).exitCode).toBe(69);
    expect(failureOf(new UnavailableError("taken")).exitCode).toBe(69);
    expect(failureOf(new ConfigError("wrong")).exitCode).toBe(78);
  });
});

describe("the message of a command", () => {
  it("says what to do after what happened", () => {
    const refused = new MusterClientError("No such item.", {
      code: "item_not_found",
      kind: "permanent",
      hint: "Look again.",
    });
    expect(failureOf(refused).message).toBe("No such item.\nLook again.");
    expect(failureOf(new ConnectionError("No answer", "http://127.0.0.1:1", 1)).message).toContain(
      "muster start",
    );
  });

  it("never repeats a password that a driver put into an error", () => {
    expect(failureOf(new Error("at postgres://me:secret@db/m")).message).not.toContain("secret");
  });
});
