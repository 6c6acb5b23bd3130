import { EventEmitter } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { ConfigError } from "../../../services/runtime/exit.ts";
import {
  createLifecycle,
  type Lifecycle,
  type ProcessHost,
  type ProcessLifecycle,
  runProcess,
} from "../../../services/runtime/lifecycle.ts";

function recorder() {
  const events: string[] = [];
  const own = (lifecycle: Lifecycle, name: string, stop: () => void | Promise<void> = () => {}) =>
    lifecycle.own(
      name,
      () => events.push(`start ${name}`),
      async () => {
        await stop();
        events.push(`stop ${name}`);
      },
    );
  return { events, own };
}

/** Stands in for Node's process: signals are events, and the exit is remembered instead of happening. */
class FakeHost extends EventEmitter implements ProcessHost {
  readonly exits: number[] = [];
  readonly said: string[] = [];
  readonly stderr = { write: (text: string) => this.said.push(text) };
  exit(code: number): void {
    this.exits.push(code);
  }
}

describe("a lifecycle", () => {
  it("stops in the reverse order of its start", async () => {
    const lifecycle = createLifecycle();
    const { events, own } = recorder();
    await own(lifecycle, "database");
    await own(lifecycle, "server");
    await lifecycle.stop();
    expect(events).toEqual(["start database", "start server", "stop server", "stop database"]);
  });

  it("stops the rest when a part fails to, and keeps every failure", async () => {
    const lifecycle = createLifecycle();
    const { events, own } = recorder();
    const fail = (what: string) => () => Promise.reject(new Error(what));
    await own(lifecycle, "database", fail("still in a transaction"));
    await own(lifecycle, "redis");
    await own(lifecycle, "server", fail("socket broke"));
    const error = await lifecycle.stop().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors.map(String)).toEqual([
      "Error: server: socket broke",
      "Error: database: still in a transaction",
    ]);
    expect(events).toContain("stop redis");
  });

  it("leaves a part behind that does not stop in time, names it, and goes on", async () => {
    const lifecycle = createLifecycle({ deadlineMs: 20 });
    const { events, own } = recorder();
    await own(lifecycle, "database");
    await own(lifecycle, "server", () => new Promise(() => {}));
    const error = await lifecycle.stop().catch((reason: unknown) => reason);
    expect(String((error as AggregateError).errors[0])).toContain("server did not stop in time");
    expect(events).toContain("stop database");
  });

  it("stops once, however many ask", async () => {
    const lifecycle = createLifecycle();
    const { events, own } = recorder();
    await own(lifecycle, "server");
    lifecycle.stopping.addEventListener("abort", () => void lifecycle.stop());
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    expect(events.filter((event) => event === "stop server")).toHaveLength(1);
  });

  it("stops a part that came up while the stop had already begun", async () => {
    const lifecycle = createLifecycle();
    const { events, own } = recorder();
    await own(lifecycle, "database");
    const slow = Promise.withResolvers<string>();
    const starting = lifecycle.own(
      "server",
      () => slow.promise,
      () => void events.push("stop server"),
    );
    await lifecycle.stop();
    slow.resolve("up");
    await expect(starting).rejects.toThrow("stopping");
    expect(events).toContain("stop server");
    await expect(own(lifecycle, "late")).rejects.toThrow("stopping");
    expect(events).not.toContain("start late");
  });
});

describe("a process", () => {
  it.each(["SIGTERM", "SIGINT"])("stops its parts on %s and ends with 0", async (signal) => {
    const host = new FakeHost();
    const { events, own } = recorder();
    const ended = runProcess(async (lifecycle) => void (await own(lifecycle, "server")), { host });
    await vi.waitFor(() => expect(events).toEqual(["start server"]));
    host.emit(signal);
    await ended;
    expect(events).toContain("stop server");
    expect(host.exits).toEqual([0]);
  });

  it("ends at once with 1 on a second signal, but not on the echo of the first that npm sends", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const host = new FakeHost();
    const hanging = Promise.withResolvers<void>();
    const ended = runProcess(
      async (lifecycle) =>
        void (await lifecycle.own(
          "server",
          () => 1,
          () => hanging.promise,
        )),
      { host },
    );
    await Promise.resolve();
    host.emit("SIGINT");
    host.emit("SIGINT");
    expect(host.exits).toEqual([]);
    vi.advanceTimersByTime(300);
    host.emit("SIGINT");
    expect(host.exits).toEqual([1]);
    vi.useRealTimers();
    hanging.resolve();
    await ended;
  });

  it("says a configuration error without a stack and ends with its code, having stopped what was up", async () => {
    const host = new FakeHost();
    const { events, own } = recorder();
    await runProcess(
      async (lifecycle) => {
        await own(lifecycle, "log");
        throw new ConfigError("MUSTER_PORT is wrong");
      },
      { host },
    );
    expect(host.said).toEqual(["MUSTER_PORT is wrong\n"]);
    expect(host.exits).toEqual([78]);
    expect(events).toContain("stop log");
  });

  it("logs an unhandled rejection as fatal, stops and ends with 1", async () => {
    const host = new FakeHost();
    const fatal = vi.fn();
    const ended = runProcess(async (lifecycle) => lifecycle.logTo({ fatal }), { host });
    const fault = new Error("nobody caught me");
    host.emit("unhandledRejection", fault);
    await ended;
    expect(fatal).toHaveBeenCalledWith({ err: fault }, expect.any(String));
    expect(host.exits).toEqual([1]);
  });

  it("does not call a start that was interrupted a failure", async () => {
    const host = new FakeHost();
    const ended = runProcess(
      (lifecycle) =>
        new Promise((_, reject) => {
          lifecycle.stopping.addEventListener("abort", () => reject(new Error("interrupted")));
        }),
      { host },
    );
    host.emit("SIGTERM");
    await ended;
    expect(host.exits).toEqual([0]);
    expect(host.said).toEqual([]);
  });

  it("ends when one of its parts asks for it", async () => {
    const host = new FakeHost();
    let lifecycle: ProcessLifecycle | undefined;
    const ended = runProcess(async (own) => void (lifecycle = own), { host });
    await lifecycle?.stop();
    await ended;
    expect(host.exits).toEqual([0]);
  });
});
