/** Debian's Postgres and Redis for a bare machine, without their system services. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";

const POLICY = "/usr/sbin/policy-rc.d";

/** Installs the packages that are missing. Throws with what to do when that is not possible. */
export function installServers(packages: readonly string[]): void {
  if (!existsSync("/usr/bin/apt-get")) throw new Error("MUSTER_TEST_INSTALL=1 needs Debian's apt-get.");
  const sudo = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  console.error(`Installing ${packages.join(" and ")} with apt-get.`);
  const withPolicy = sudo.length === 0 && !existsSync(POLICY);
  // 101 answers the packages' own scripts: do not start a service.
  if (withPolicy) {
    writeFileSync(POLICY, "#!/bin/sh\nexit 101\n");
    chmodSync(POLICY, 0o755);
  }
  try {
    run([...sudo, "apt-get", "update", "-qq"]);
    run([...sudo, "apt-get", "install", "-y", "-qq", "--no-install-recommends", ...packages]);
  } finally {
    if (withPolicy) rmSync(POLICY, { force: true });
  }
}

function run([command = "", ...args]: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"], env });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed.`, { cause: error ?? status });
}
