import { describe, expect, it } from "vitest";
import { CheckFailure, createHealth } from "../../../services/runtime/health.ts";

const fine = (): Promise<void> => Promise.resolve();

describe("readiness", () => {
  it("says which check failed, and with what kind of failure", async () => {
    const refused = Object.assign(new Error("connect postgres://u:p@10.0.0.7"), { code: "ECONNREFUSED" });
    const health = createHealth({ checks: { database: () => Promise.reject(refused), redis: fine } });
    health.started();
    const answer = await health.ready();
    expect(answer).toEqual({
      ok: false,
      checks: { process: { ok: true }, database: { ok: false, reason: "ECONNREFUSED" }, redis: { ok: true } },
    });
  });

  it("never tells addresses: everybody may ask", async () => {
    const health = createHealth({ checks: { database: () => Promise.reject(new Error("at 10.0.0.7")) } });
    expect(JSON.stringify(await health.ready())).not.toContain("10.0.0.7");
  });

  it("does not wait for a check that never answers", async () => {
    const health = createHealth({ checks: { redis: () => new Promise(() => {}) }, timeoutMs: 5 });
    health.started();
    expect((await health.ready()).checks["redis"]).toEqual({ ok: false, reason: "no answer in time" });
  });

  it("is refused while starting and while draining, whatever the checks say", async () => {
    const health = createHealth({ checks: { database: fine } });
    expect((await health.ready()).checks["process"]).toEqual({ ok: false, reason: "starting" });
    health.started();
    expect((await health.ready()).ok).toBe(true);
    health.draining();
    health.started();
    expect((await health.ready()).checks["process"]).toEqual({ ok: false, reason: "draining" });
  });

  it("looks once for all who ask at the same time", async () => {
    let looks = 0;
    const look = async (): Promise<void> => {
      looks += 1;
    };
    const health = createHealth({ checks: { database: look } });
    await Promise.all(Array.from({ length: 50 }, () => health.ready()));
    expect(looks).toBe(1);
    await health.ready();
    expect(looks).toBe(2);
  });

  it("of a process whose database is away does not make it look dead", () => {
    const health = createHealth({ checks: { database: () => Promise.reject(new Error("away")) } });
    expect(health.live().ok).toBe(true);
  });
});

describe("what a process can serve without", () => {
  it("makes it degraded, in words, and leaves it ready", async () => {
    const redis = (): Promise<void> => Promise.reject(new CheckFailure("Redis evicts keys."));
    const health = createHealth({ checks: { database: fine }, lesserChecks: { redis } });
    health.started();
    const answer = await health.ready();
    expect(answer).toMatchObject({ ok: true, degraded: ["redis"] });
    expect(answer.checks["redis"]).toEqual({ ok: false, reason: "Redis evicts keys." });
  });

  it("is no excuse for what it cannot serve without", async () => {
    const away = (): Promise<void> => Promise.reject(new Error("away"));
    const health = createHealth({ checks: { database: away }, lesserChecks: { redis: away } });
    health.started();
    expect((await health.ready()).ok).toBe(false);
  });
});
