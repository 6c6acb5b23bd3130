/**
 * What a cluster would say to an object: its model finds wrong types and what is missing, and a
 * walk along the fields that Kubernetes knows finds spelling mistakes, which models let pass.
 */
import * as kubernetes from "@kubernetes/client-node";
import * as externalSecrets from "@kubernetes-models/external-secrets/external-secrets.io/v1";
import * as gateway from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import * as keda from "@kubernetes-models/keda/keda.sh/v1alpha1";
import * as monitoring from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import * as apps from "kubernetes-models/apps/v1";
import * as autoscaling from "kubernetes-models/autoscaling/v2";
import * as batch from "kubernetes-models/batch/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import type { Rendered } from "./helm.ts";

interface Model {
  validate(): void;
}
type Models = Readonly<Record<string, unknown>>;

const MODELS: Readonly<Record<string, Models>> = {
  v1: core,
  "apps/v1": apps,
  "autoscaling/v2": autoscaling,
  "batch/v1": batch,
  "networking.k8s.io/v1": networking,
  "policy/v1": policy,
  "keda.sh/v1alpha1": keda,
  "gateway.networking.k8s.io/v1": gateway,
  "external-secrets.io/v1": externalSecrets,
  "monitoring.coreos.com/v1": monitoring,
};

/** Kinds of Kubernetes itself by the name of their type there. */
const TYPES: Readonly<Record<string, string>> = { HorizontalPodAutoscaler: "V2HorizontalPodAutoscaler" };

/** What is wrong with it, in words; empty if nothing. */
export function faultsOf(object: Rendered): string[] {
  const name = `${object.kind} ${object.metadata.name}`;
  const Kind = MODELS[object.apiVersion]?.[object.kind] as (new (data: Rendered) => Model) | undefined;
  if (Kind === undefined) return [`${name}: there is no model of ${object.apiVersion} ${object.kind}`];
  const faults: string[] = [];
  try {
    new Kind(object).validate();
  } catch (error) {
    faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const type = TYPES[object.kind] ?? `V1${object.kind}`;
  if (type in kubernetes) faults.push(...unknownFields(object, type, name));
  return faults;
}

interface Attribute {
  readonly baseName: string;
  readonly type: string;
}

function unknownFields(value: unknown, type: string, path: string): string[] {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  if (list !== undefined) {
    return Array.isArray(value)
      ? value.flatMap((one: unknown, index) => unknownFields(one, list, `${path}[${index}]`))
      : [];
  }
  const known = (kubernetes as Models)[type] as { getAttributeTypeMap?: () => Attribute[] } | undefined;
  const attributes = known?.getAttributeTypeMap?.();
  if (attributes === undefined || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const attribute = attributes.find(({ baseName }) => baseName === key);
    if (attribute === undefined) return [`${path}.${key}: ${type} has no such field`];
    return unknownFields(inner, attribute.type, `${path}.${key}`);
  });
}
