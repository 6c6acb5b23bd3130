/** The chart as a cluster would see it: rendered by a real helm, object by object. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createGuard } from "../../services/api/http/guard.ts";
import { STOP_DEADLINE_MS } from "../../services/runtime/lifecycle.ts";
import { VARIABLES } from "../../services/runtime/settings.ts";
import { readGolden, UPDATE_GOLDEN, writeGolden } from "../support/golden.ts";
import { CHART, helm, type HelmFailure, render, type Rendered, type Spec } from "./helm.ts";
import { faultsOf } from "./models.ts";
import { type Container, podsOf, selects } from "./pods.ts";

const FILES = readdirSync(join(CHART, "ci")).map((name) => join(CHART, "ci", name));
const DEFAULT = join(CHART, "ci", "default-values.yaml");
const METRICS = join(CHART, "../../../docs/metrics.md");
const FULL = join(CHART, "ci", "full-values.yaml");

describe.each(FILES.map((file) => ({ name: file.slice(CHART.length + 1), file })))(
  "with $name",
  ({ file }) => {
    let objects: Rendered[];
    beforeAll(async () => {
      objects = await render(file);
    });

    it("helm finds nothing to complain about", async () => {
      expect(await helm("lint", "--strict", CHART, "-f", file)).toContain("0 chart(s) failed");
    });

    it("every object is one that a cluster would take, without a field it does not know", () => {
      expect(objects.flatMap(faultsOf)).toEqual([]);
    });

    it("no two objects have the same name", () => {
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    });

    it("everything that selects pods selects some, and a deployment its own", () => {
      const pods = podsOf(objects);
      const chosen = (selector: Readonly<Record<string, string>>) =>
        pods.filter(({ labels }) => selects(selector, labels)).map(({ of }) => of);
      for (const { kind, metadata, spec = {} } of objects) {
        const selector = kind === "NetworkPolicy" ? spec.podSelector?.matchLabels : matched(kind, spec);
        if (selector === undefined) continue;
        if (kind === "ServiceMonitor") {
          const services = objects.filter(
            (one) => one.kind === "Service" && selects(selector, one.metadata.labels ?? {}),
          );
          expect(services).toHaveLength(2);
          continue;
        }
        expect(chosen(selector)).toHaveLength(1);
        if (kind === "Deployment") expect(chosen(selector)).toEqual([`Deployment ${metadata.name}`]);
      }
    });

    it("every container says what it needs, has no more rights than that, and comes from a certain image", () => {
      for (const { spec } of podsOf(objects)) {
        expect(spec).toMatchObject({
          enableServiceLinks: false,
          automountServiceAccountToken: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            seccompProfile: { type: "RuntimeDefault" },
          },
        });
        for (const container of spec.containers) {
          expect(container.securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          });
          expect(container.resources?.limits?.memory).toMatch(/^\d+[MG]i$/);
          expect(container.resources?.requests).toHaveProperty("cpu");
          expect(container.image).toMatch(/@sha256:[0-9a-f]{64}$|:\d+\.\d+\.\d+$/);
        }
      }
    });

    it("what serves is probed under a name that it accepts, and has longer to stop than it takes", () => {
      const guard = createGuard({ host: "0.0.0.0", publicUrl: undefined, allowedHosts: ["localhost"] });
      for (const { spec, component } of podsOf(objects).filter(({ serves }) => serves)) {
        expect((spec.terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(STOP_DEADLINE_MS + 5_000);
        const [container] = spec.containers as readonly [Container];
        for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
          expect(probe?.httpGet.path).toMatch(/^\/(livez|readyz)$/);
          if (component !== "api") continue;
          const host = probe?.httpGet.httpHeaders?.find(({ name }) => name === "Host")?.value;
          expect(guard({ host })).toBeNull();
        }
        expect(container.livenessProbe?.httpGet.path).toBe("/livez");
      }
    });

    it("no secret is written out, and every variable is one that Muster reads", () => {
      const known = new Set<string>(Object.values(VARIABLES).map(({ name }) => name));
      const secret = new Set<string>(
        Object.values(VARIABLES).flatMap((one) => ("secret" in one ? [one.name] : [])),
      );
      expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
      for (const { spec } of podsOf(objects)) {
        for (const { name, value, valueFrom } of spec.containers.flatMap(({ env = [] }) => env)) {
          if (name.startsWith("MUSTER_")) expect(known).toContain(name);
          if (secret.has(name)) expect([value, valueFrom]).toEqual([undefined, expect.anything()]);
        }
      }
    });

    it("a budget stands only over more than one pod, which it leaves one of", () => {
      for (const { metadata, spec } of objects.filter(({ kind }) => kind === "PodDisruptionBudget")) {
        const owner = objects.find((one) => one.kind === "Deployment" && one.metadata.name === metadata.name);
        const scaler = objects.find(
          (one) => one.kind === "HorizontalPodAutoscaler" && one.metadata.name === metadata.name,
        );
        expect(scaler?.spec?.minReplicas ?? owner?.spec?.replicas).toBeGreaterThan(1);
        expect(spec?.minAvailable).toBe(1);
      }
    });
  },
);

const matched = (kind: string, { selector }: Spec): Readonly<Record<string, string>> | undefined =>
  kind === "Service" ? selector : selector?.matchLabels;

describe("the chart", () => {
  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const failure = (await work.then(
      () => ({ stdout: "", stderr: "it was rendered" }),
      (error: unknown) => error,
    )) as HelmFailure;
    return failure.stdout + failure.stderr;
  };

  it("renders by default what it has always rendered", async () => {
    const objects = await render(DEFAULT, { extensions: [] });
    if (UPDATE_GOLDEN) writeGolden("chart-default", objects);
    expect(objects).toEqual(readGolden("chart-default"));
  });

  it("names what has to be set, and how", async () => {
    const empty = join(CHART, "values.yaml");
    expect(await refusal(render(empty))).toContain("kubectl create secret generic muster-database");
    const worker = ["worker.enabled=true", "worker.command={./build.sh}"];
    expect(await refusal(render(DEFAULT, { set: worker }))).toContain("muster token create");
    expect(await refusal(render(FULL, { set: ["migrate.useHelmHooks=true"] }))).toContain(
      "migrate.useHelmHooks",
    );
  });

  it("refuses a value that is misspelt or of the wrong kind", async () => {
    expect(await refusal(render(DEFAULT, { set: ["api.replica=3"] }))).toMatch(/replica/);
    expect(await refusal(render(DEFAULT, { set: ["scheduler.replicas=two"] }))).toMatch(/replicas/);
    expect(await refusal(render(DEFAULT, { set: ["auth.mode=off"] }))).toMatch(/mode/);
  });

  it("refuses what the cluster has no kind for, and names the product", async () => {
    const on = ["metrics.serviceMonitor.enabled=true"];
    expect(await refusal(render(DEFAULT, { set: on, extensions: [] }))).toContain("Prometheus Operator");
    expect(await refusal(render(FULL, { extensions: [] }))).toMatch(/does not have .*; install/);
  });

  it("lets the API answer to its own Service, its Ingress and its route", async () => {
    const api = podsOf(await render(FULL)).find(({ component }) => component === "api");
    const hosts = api?.spec.containers[0]?.env?.find(({ name }) => name === "MUSTER_ALLOWED_HOSTS")?.value;
    const guard = createGuard({
      host: "0.0.0.0",
      publicUrl: undefined,
      allowedHosts: hosts?.split(",") ?? [],
    });
    for (const host of ["fleet-muster-api", "fleet-muster-api.agents.svc", "muster.example.org"]) {
      expect(guard({ host })).toBeNull();
    }
    expect(guard({ host: "evil.example.org" })).not.toBeNull();
  });

  it("asks for metrics that there are, in its alerts, its dashboard and its scaling", () => {
    const known = new Set(readFileSync(METRICS, "utf8").match(/muster_[a-z_]+/g));
    const templates = join(CHART, "templates/observe/_queries.tpl");
    const files = ["alerts.yaml", "dashboard.json"].map((name) => join(CHART, "files", name));
    for (const file of [templates, ...files]) {
      const asked = readFileSync(file, "utf8").match(/muster_[a-z_]+/g) ?? [];
      expect(asked.length).toBeGreaterThan(0);
      for (const name of asked) expect(known).toContain(name.replace(/_bucket$/, ""));
    }
  });

  it("has an application version that is the project's", () => {
    const { version } = JSON.parse(readFileSync(join(CHART, "../../../package.json"), "utf8")) as {
      version: string;
    };
    expect(readFileSync(join(CHART, "Chart.yaml"), "utf8")).toContain(`appVersion: "${version}"`);
  });
});
