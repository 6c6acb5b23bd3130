import { describe, expect, it, vi } from "vitest";
import { UnavailableError } from "../../../services/runtime/exit.ts";
import { connectWithRetry, type RetryOptions } from "../../../services/runtime/retry.ts";

/** Time that passes by being slept, and in no other way. */
function setUp(options: Partial<RetryOptions> = {}) {
  let time = 0;
  const slept: number[] = [];
  const log = { warn: vi.fn(), info: vi.fn() };
  const retry: RetryOptions = {
    name: "PostgreSQL",
    log,
    now: () => time,
    sleep: async (ms) => {
      slept.push(ms);
      time += ms;
    },
    ...options,
  };
  return { retry, log, slept };
}

function failing(times: number, error = new Error("connect ECONNREFUSED")) {
  let left = times;
  return async (): Promise<string> => {
    left -= 1;
    if (left >= 0) throw error;
    return "connected";
  };
}

describe("reaching a server that comes up later", () => {
  it("tries again, less and less often, and says so", async () => {
    const { retry, log, slept } = setUp({ backoff: { firstMs: 100, maxMs: 400 } });
    await expect(connectWithRetry(failing(5), retry)).resolves.toBe("connected");
    expect(slept).toHaveLength(5);
    expect(Math.max(...slept)).toBeLessThanOrEqual(400);
    expect(slept[4]).toBeGreaterThan(slept[0] ?? Number.NaN);
    expect(log.warn).toHaveBeenCalledTimes(5);
    expect(log.info).toHaveBeenCalledTimes(1);
  });

  it("gives up when told to, with a message that says what and why, and exit code 69", async () => {
    const { retry } = setUp({ giveUpAfterMs: 2_000 });
    const error = await connectWithRetry(failing(1_000), retry).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect((error as UnavailableError).exitCode).toBe(69);
    expect((error as UnavailableError).message).toMatch(/^PostgreSQL could not be reached.*ECONNREFUSED/);
  });

  it("does not repeat what another try cannot cure", async () => {
    const { retry, slept } = setUp({ isFinal: (error) => error instanceof TypeError });
    await expect(connectWithRetry(failing(9, new TypeError("wrong password")), retry)).rejects.toThrow(
      "password",
    );
    expect(slept).toEqual([]);
  });

  it("keeps passwords out of the log, and names both causes when IPv4 and IPv6 failed", async () => {
    const { retry, log } = setUp();
    const both = new AggregateError(
      [new Error("::1 refused"), new Error("redis://:pw@127.0.0.1 refused")],
      "",
    );
    await connectWithRetry(failing(1, both), retry);
    const entry: unknown = log.warn.mock.calls[0]?.[0];
    expect(entry).toMatchObject({ cause: "::1 refused; redis://***@127.0.0.1 refused" });
  });

  it("ends with the process: a stop during the pause rejects at once", async () => {
    const stopping = new AbortController();
    const { retry } = setUp({
      signal: stopping.signal,
      sleep: async () => stopping.abort(new Error("The process is stopping.")),
    });
    await expect(connectWithRetry(failing(1_000), retry)).rejects.toThrow("The process is stopping.");
  });
});
