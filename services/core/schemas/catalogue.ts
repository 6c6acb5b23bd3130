/** Everything that two configuration texts say together, by name: what a program shows that lets people choose. */
import { resolveTransition, ROLES, type Role, TRIGGERS, type Trigger } from "../roles.ts";
import type { TraitSchema } from "./config-layer.ts";
import { type Layers, resolutionOf } from "./find-schema.ts";
import type { ItemSchema } from "./item-schema.ts";
import { traitOf } from "./merge-traits.ts";
import { resolveSchema } from "./resolve-schema.ts";

export interface NamedSchema {
  readonly name: string;
  readonly schema: ItemSchema;
}

/** The schemas that a type can name here, each as an item of that type would have it. */
export function schemasIn(layers: Layers): NamedSchema[] {
  const isolated = resolutionOf(layers) === "isolated";
  const names = [...(layers.root?.schemas.keys() ?? []), ...(isolated ? [] : layers.global.schemas.keys())];
  return [...new Set(names)].toSorted().map((name) => ({
    name,
    schema: resolveSchema(layers, { type: name, tags: [], traits: [] }),
  }));
}

export interface NamedTrait {
  readonly name: string;
  readonly trait: TraitSchema;
}

export function traitsIn(layers: Layers): NamedTrait[] {
  const names = new Set([...(layers.root?.traits.keys() ?? []), ...layers.global.traits.keys()]);
  return [...names].toSorted().flatMap((name) => {
    const trait = traitOf(layers, name);
    return trait === null ? [] : [{ name, trait }];
  });
}

/** Stands for the role that an item was in before it was blocked. */
export const ROLE_BEFORE = "<previousRole>";

export type StatusGraph = Readonly<Partial<Record<Role, Readonly<Partial<Record<Trigger, string>>>>>>;

/** Where each trigger leads from each role, before gates and dependencies are asked. */
export function statusGraph(hasReviewPhase: boolean): StatusGraph {
  return Object.fromEntries(
    ROLES.map((role) => [
      role,
      Object.fromEntries(TRIGGERS.flatMap((trigger) => edge(role, trigger, hasReviewPhase))),
    ]),
  );
}

function edge(role: Role, trigger: Trigger, hasReviewPhase: boolean): [Trigger, string][] {
  if (role === "blocked" && trigger === "resume") return [[trigger, ROLE_BEFORE]];
  const target = resolveTransition({ role, previousRole: null, hasReviewPhase }, trigger);
  return target.kind === "to" ? [[trigger, target.role]] : [];
}
