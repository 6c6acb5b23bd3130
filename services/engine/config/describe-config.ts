/** `describe_config`: what the texts that count say together. */
import type {
  ConfiguredNote,
  ConfiguredSchema,
  ConfiguredTrait,
  DescribeConfigInput,
  DescribeConfigOutput,
} from "../../contract/operations/describe-config.ts";
import {
  type NamedSchema,
  type NamedTrait,
  schemasIn,
  statusGraph,
  traitsIn,
} from "../../core/schemas/catalogue.ts";
import { type Layers, resolutionOf } from "../../core/schemas/find-schema.ts";
import type { NoteSpec } from "../../core/schemas/item-schema.ts";
import { resolveSchema } from "../../core/schemas/resolve-schema.ts";
import { ROLES, TRIGGERS } from "../../core/roles.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { inSnapshot } from "../queries/snapshot.ts";
import { requireItem } from "../resolve-items.ts";
import { requireRoot } from "./require-root.ts";

export async function describeConfig(
  deps: EngineDeps,
  input: DescribeConfigInput,
  caller: Caller,
): Promise<DescribeConfigOutput> {
  return await inSnapshot(deps, async (handle) => {
    const rootId = input.rootId === undefined ? null : await requireItem(handle, input.rootId, caller);
    if (rootId !== null) await requireRoot(handle, rootId);
    const layers = await deps.schemas.layersOf(handle, rootId);
    return { ...(rootId === null ? {} : { rootId }), ...described(layers) };
  });
}

function described(layers: Layers): Omit<DescribeConfigOutput, "rootId"> {
  const schemas = schemasIn(layers);
  // What an item without a schema has is what counts for all.
  const { labels, noteLimits, independence, requireVerified } = resolveSchema(layers, {
    type: null,
    tags: [],
    traits: [],
  });
  return {
    fingerprint: (layers.root ?? layers.global).fingerprint,
    globalFingerprint: layers.global.fingerprint,
    resolution: resolutionOf(layers),
    schemas: schemas.map(toSchema),
    traits: traitsIn(layers).map(toTrait),
    statusLabels: { ...labels },
    noteLimits,
    independence: { mode: independence, requireVerified },
    statusGraph: {
      roles: [...ROLES],
      triggers: [...TRIGGERS],
      types: schemas.map(toGraph),
    },
  };
}

function toSchema({ name, schema }: NamedSchema): ConfiguredSchema {
  return {
    type: name,
    lifecycleMode: schema.policy.lifecycle,
    hasReviewPhase: schema.policy.hasReviewPhase,
    notes: schema.notes.map(toNote),
    defaultTraits: [...schema.traits],
    source: schema.source === "root" ? "per-root" : "global",
  };
}

function toTrait({ name, trait }: NamedTrait): ConfiguredTrait {
  return {
    name,
    notes: (trait.notes ?? []).map(toNote),
    ...(trait.resources === null
      ? {}
      : { resources: trait.resources.map(({ key, mode }) => ({ key, mode })) }),
  };
}

function toGraph({ name, schema }: NamedSchema): DescribeConfigOutput["statusGraph"]["types"][number] {
  const { lifecycle, hasReviewPhase } = schema.policy;
  const transitions = statusGraph(hasReviewPhase) as Record<string, Record<string, string>>;
  return { type: name, lifecycleMode: lifecycle, hasReviewPhase, transitions };
}

/** Also what `query_items` shows of a note of a schema. */
export function toNote(note: NoteSpec): ConfiguredNote {
  const { key, role, required, description, guidance, skill, maxLength, seat, independentOf } = note;
  return {
    key,
    role,
    required,
    description,
    ...(guidance === null ? {} : { guidance }),
    ...(skill === null ? {} : { skill }),
    ...(maxLength === null ? {} : { maxLength }),
    ...(seat === null ? {} : { seat }),
    ...(independentOf.length === 0 ? {} : { independentOf: [...independentOf] }),
  };
}
