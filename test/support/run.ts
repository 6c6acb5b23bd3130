/** What `npm test` tells the tests about its servers. */

/** Address of the run's Postgres; its user may create databases. */
export function testDatabaseUrl(): string {
  return given("MUSTER_TEST_DATABASE_URL");
}

/** Address of the run's Redis, shared by all test files: keep to your own key prefix, and never flush it. */
export function testRedisUrl(): string {
  return given("MUSTER_TEST_REDIS_URL");
}

/** Tells one run from another on a server that both were given. Every Vitest started by hand is a run. */
export function testRun(): string {
  return process.env["MUSTER_TEST_RUN"] ?? `hand_${process.ppid}`;
}

/** A folder that goes away with the run, or undefined when Vitest was started by hand. */
export function testFolder(): string | undefined {
  return process.env["MUSTER_TEST_FOLDER"];
}

function given(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set. Run tests with \`npm test -- <file>\`, which brings up the servers.`);
}
