import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  aloneConfig,
  apiConfig,
  clientConfig,
  readConfig,
  schedulerConfig,
} from "../../../services/runtime/config.ts";
import { ConfigError } from "../../../services/runtime/exit.ts";

const folder = mkdtempSync(join(tmpdir(), "muster-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function faultsOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("The configuration was accepted.");
}

describe("the configuration of a process", () => {
  it("needs nothing to run alone, on loopback, in a folder of its own", () => {
    const config = readConfig(aloneConfig, {});
    expect(config).toMatchObject({ host: "127.0.0.1", port: 3001, auth: "off", dataDir: resolve(".muster") });
    expect(config.databaseUrl).toBeUndefined();
  });

  it("is frozen", () => {
    expect(Object.isFrozen(readConfig(aloneConfig, {}))).toBe(true);
  });

  it("names every fault at once, by the variable that people set, and ends with 78", () => {
    const environment = {
      MUSTER_PORT: "http",
      MUSTER_HOST: "0.0.0.0",
      MUSTER_DATABASE_URL: "mysql://db/muster",
      MUSTER_REDIS_URL: "db:6379",
      MUSTER_LOG_LEVEL: "loud",
      MUSTER_METRICS_PORT: "70000",
      MUSTER_SECRET_KEY: "short",
      DEGRADED_MODE_POLICY: "maybe",
      RESOURCE_LEASES_ENFORCED: "no",
    };
    const faults = faultsOf(() => readConfig(apiConfig, environment));
    for (const name of Object.keys(environment)) expect(faults).toContain(`at ${name}`);
    expect(new ConfigError("").exitCode).toBe(78);
  });

  it.each(["0.0.0.0", "::", "192.168.1.7", "muster.example", "128.0.0.1"])(
    "refuses to listen on %s while nobody has to prove who they are",
    (host) => {
      expect(faultsOf(() => readConfig(aloneConfig, { MUSTER_HOST: host }))).toContain(
        "not a loopback address",
      );
    },
  );

  it.each(["127.0.0.1", "127.8.8.8", "localhost", "::1"])("listens on %s", (host) => {
    expect(readConfig(aloneConfig, { MUSTER_HOST: host }).host).toBe(host);
  });

  it("listens on any address once callers have to prove who they are", () => {
    const config = readConfig(aloneConfig, { MUSTER_HOST: "0.0.0.0", MUSTER_AUTH: "token" });
    expect(config).toMatchObject({ host: "0.0.0.0", auth: "token" });
  });

  it("refuses algorithms with which whoever can check an access token can also forge one", () => {
    const faults = faultsOf(() =>
      readConfig(aloneConfig, { MUSTER_AUTH: "jwt", MUSTER_JWT_ALGORITHMS: "RS256, HS256" }),
    );
    expect(faults).toContain("MUSTER_JWT_ALGORITHMS");
  });

  it("asks for a database and a Redis where several processes share them", () => {
    for (const schema of [apiConfig, schedulerConfig]) {
      const faults = faultsOf(() => readConfig(schema, {}));
      expect(faults).toContain("is required");
      expect(faults).toContain("MUSTER_DATABASE_URL");
      expect(faults).toContain("MUSTER_REDIS_URL");
    }
  });

  it("finds a Redis beside the embedded database strange, along with everything else that is wrong", () => {
    const environment = { MUSTER_REDIS_URL: "redis://db", MUSTER_PORT: "http" };
    const faults = faultsOf(() => readConfig(aloneConfig, environment));
    for (const name of Object.keys(environment)) expect(faults).toContain(`at ${name}`);
    const both = { MUSTER_REDIS_URL: "redis://db", MUSTER_DATABASE_URL: "postgres://db/m" };
    expect(readConfig(aloneConfig, both).redisUrl).toBe("redis://db");
  });

  it("keeps the policy for degraded mode and the switch of resource leases", () => {
    const config = readConfig(aloneConfig, {
      DEGRADED_MODE_POLICY: "reject",
      RESOURCE_LEASES_ENFORCED: "false",
    });
    expect(config).toMatchObject({ degradedModePolicy: "reject", resourceLeasesEnforced: false });
    expect(readConfig(aloneConfig, {}).resourceLeasesEnforced).toBe(true);
  });

  it("takes an empty variable for an absent one", () => {
    expect(readConfig(aloneConfig, { MUSTER_PORT: "", MUSTER_REDIS_URL: "" })).toMatchObject({ port: 3001 });
  });

  it("turns metrics off on request and has them on a port of their own otherwise", () => {
    const database = { MUSTER_DATABASE_URL: "postgres://db/m", MUSTER_REDIS_URL: "redis://db" };
    expect(readConfig(apiConfig, database).metricsPort).toBe(9464);
    expect(readConfig(apiConfig, { ...database, MUSTER_METRICS_PORT: "off" }).metricsPort).toBeNull();
  });

  it("tries a client's addresses in the order given", () => {
    const { urls } = readConfig(clientConfig, { MUSTER_URL: "http://a:3001, http://b:3001," });
    expect(urls).toEqual(["http://a:3001", "http://b:3001"]);
  });
});

describe("a secret in a file", () => {
  it("is read without the line end that editors add", () => {
    const file = join(folder, "database-url");
    writeFileSync(file, "postgres://muster:secret@db/muster\n");
    const config = readConfig(apiConfig, { MUSTER_DATABASE_URL_FILE: file, MUSTER_REDIS_URL: "redis://db" });
    expect(config.databaseUrl).toBe("postgres://muster:secret@db/muster");
  });

  it("that cannot be read is a fault beside all others", () => {
    const faults = faultsOf(() =>
      readConfig(aloneConfig, { MUSTER_SECRET_KEY_FILE: join(folder, "absent"), MUSTER_PORT: "-1" }),
    );
    expect(faults).toContain("MUSTER_SECRET_KEY_FILE");
    expect(faults).toContain("MUSTER_PORT");
  });

  it("and in the variable as well leaves open which one counts, and is refused", () => {
    const file = join(folder, "redis-url");
    writeFileSync(file, "redis://one");
    const both = { MUSTER_REDIS_URL: "redis://two", MUSTER_REDIS_URL_FILE: file };
    expect(faultsOf(() => readConfig(aloneConfig, both))).toContain("keep one of them");
  });

  it("exists only for secrets: a port is none", () => {
    const file = join(folder, "port");
    writeFileSync(file, "4000");
    expect(readConfig(aloneConfig, { MUSTER_PORT_FILE: file }).port).toBe(3001);
  });
});
