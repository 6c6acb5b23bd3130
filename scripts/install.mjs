/**
 * Installs what package-lock.json asks for, when it is not there yet. It runs before `npm start`
 * and `npm test`, under whatever Node the machine has, so it is plain JavaScript without
 * dependencies. When everything is in place it says nothing and needs no network.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = 20;
const EX_UNAVAILABLE = 69;

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The packages of a lock file by folder, or null when there is no such file or it was cut short. */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return null;
  }
}

/**
 * Why an install is needed, or null. npm leaves a copy of the lock file in node_modules that
 * lists what it really installed; packages for other platforms are missing there, and may be.
 */
function reasonToInstall() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (present === null) return "nothing is installed yet";
  for (const [folder, entry] of Object.entries(wanted ?? {})) {
    if (folder === "" || entry.link === true) continue;
    const found = present[folder];
    if (found === undefined ? !isOptional(entry) : found.version !== entry.version)
      return "package-lock.json changed";
  }
  if (!existsSync(join(root, "node_modules", ".bin", "node"))) return "the runtime is missing";
  return null;
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

/** Runs the npm that called us, under the Node it runs under: ours in node_modules is about to be replaced. */
function installPackages() {
  const npm = process.env.npm_execpath;
  const node = process.env.npm_node_execpath ?? process.execPath;
  const args = ["ci", "--include=dev", "--include=optional", "--loglevel=error", "--no-progress"];
  const [command, ...rest] = npm ? [node, npm, ...args] : ["npm", ...args];
  return spawnSync(command, rest, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}

function main() {
  if (Number(process.versions.node.split(".")[0]) < OLDEST_NODE) {
    console.error(
      `Muster needs Node ${OLDEST_NODE} or newer; this is ${process.version} (${process.execPath}).`,
    );
    return EX_UNAVAILABLE;
  }
  const reason = reasonToInstall();
  if (reason === null) return 0;
  console.error(`Installing dependencies with npm ci, because ${reason}. This takes about a minute.`);
  const { status, error } = installPackages();
  if (status === 0 && reasonToInstall() === null) return 0;
  const cause = error ? error.message : `npm ci ended with ${status}`;
  console.error(
    `Dependencies could not be installed: ${cause}. Check the network, then run the command again.`,
  );
  return EX_UNAVAILABLE;
}

process.exitCode = main();
