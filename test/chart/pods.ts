/** The pods of rendered objects, whatever makes them. */
import type { Rendered } from "./helm.ts";

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly resources?: { readonly requests?: object; readonly limits?: { readonly memory?: string } };
  readonly securityContext?: object;
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Probe {
  readonly httpGet: {
    readonly path: string;
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
}

export interface Pod {
  readonly of: string;
  /** It runs until it is told to stop, and answers probes. */
  readonly serves: boolean;
  readonly component: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: {
    readonly containers: readonly Container[];
    readonly enableServiceLinks?: boolean;
    readonly automountServiceAccountToken?: boolean;
    readonly securityContext?: object;
    readonly terminationGracePeriodSeconds?: number;
  };
}

export function podsOf(objects: readonly Rendered[]): Pod[] {
  return objects.flatMap((object): Pod[] => {
    const made = podOf(object);
    if (made === undefined) return [];
    const labels = made.labels ?? {};
    const component = labels["app.kubernetes.io/component"] ?? "";
    const serves = component === "api" || component === "scheduler";
    return [{ of: `${object.kind} ${object.metadata.name}`, serves, component, labels, spec: made.spec }];
  });
}

function podOf(
  object: Rendered,
): { labels?: Readonly<Record<string, string>> | undefined; spec: Pod["spec"] } | undefined {
  if (object.kind === "Pod") return { labels: object.metadata.labels, spec: object.spec as Pod["spec"] };
  if (object.kind !== "Deployment" && object.kind !== "Job") return undefined;
  const template = object.spec?.template;
  return template && { labels: template.metadata.labels, spec: template.spec as Pod["spec"] };
}

/** Whether labels are chosen by a selector of equalities. */
export function selects(
  selector: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
