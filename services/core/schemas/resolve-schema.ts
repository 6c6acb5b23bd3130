/** Everything that the configuration says about one item, from the two texts that apply to it. */
import { DEFAULT_LABELS } from "../roles.ts";
import { DEFAULT_POLICY, type ItemPolicy } from "../state.ts";
import type { RetryRules, TraitSchema } from "./config-layer.ts";
import { findSchema, type FoundSchema, type Layers } from "./find-schema.ts";
import {
  type ItemSchema,
  MAX_REVIEW_ROUNDS_DEFAULT,
  type NoteSpec,
  type StatusLabels,
} from "./item-schema.ts";
import {
  dispatchSeats,
  mergeDispatch,
  mergeNotes,
  mergeResources,
  mergeSeats,
  traitOf,
} from "./merge-traits.ts";

export interface SchemaSubject {
  readonly type: string | null;
  readonly tags: readonly string[];
  /** The item's own; those of its schema come before them. */
  readonly traits: readonly string[];
}

/** Without a schema an item has no gates, but what its traits take, it takes. */
export function resolveSchema(layers: Layers, item: SchemaSubject): ItemSchema {
  const found = findSchema(layers, item);
  const defaults = found?.schema.defaultTraits ?? [];
  const traits = namedTraits(layers, [...defaults, ...item.traits]);
  const nearest = namedTraits(layers, [...item.traits, ...defaults]).known;
  const notes = found === null ? [] : mergeNotes(found.schema.notes, traits.known);
  const seats = found === null ? [] : mergeSeats(found.schema.seats, traits.known);
  const dispatch = mergeDispatch(nearest);
  const independence = layers.root?.independence ?? layers.global.independence;
  const retry = retryOf(layers, found);
  return {
    type: found?.name ?? null,
    matched: found !== null,
    notes,
    resources: mergeResources(layers, traits.known),
    dispatch,
    seats: dispatchSeats(seats, dispatch, nearest),
    policy: policyOf(found, notes, retry),
    labels: labelsOf(layers),
    independence: independence?.mode ?? "warn",
    requireVerified: independence?.requireVerified ?? false,
    maxReviewRounds: retry.maxReviewRounds ?? MAX_REVIEW_ROUNDS_DEFAULT,
    onCancelled: layers.root?.onCancelled ?? layers.global.onCancelled,
    noteLimits: layers.root?.noteLimits ?? layers.global.noteLimits ?? "warn",
    traits: traits.names,
    unknownTraits: traits.unknown,
    availableTraits: [...new Set([...(layers.root?.traits.keys() ?? []), ...layers.global.traits.keys()])],
    source: found?.source ?? "none",
    fingerprint: found === null ? null : (layers[found.source]?.fingerprint ?? null),
  };
}

function namedTraits(
  layers: Layers,
  names: readonly string[],
): { readonly names: string[]; readonly known: TraitSchema[]; readonly unknown: string[] } {
  const asked = [...new Set(names)].map((name) => ({ name, trait: traitOf(layers, name) }));
  return {
    names: asked.flatMap(({ name, trait }) => (trait === null ? [] : [name])),
    known: asked.flatMap(({ trait }) => (trait === null ? [] : [trait])),
    unknown: asked.flatMap(({ name, trait }) => (trait === null ? [name] : [])),
  };
}

/** What the type says, else the project, else the server. */
function retryOf({ root, global }: Layers, found: FoundSchema | null): RetryRules {
  return { ...global.retry, ...root?.retry, ...found?.schema.retry };
}

function policyOf(found: FoundSchema | null, notes: readonly NoteSpec[], retry: RetryRules): ItemPolicy {
  return {
    lifecycle: found?.schema.lifecycle ?? "auto",
    hasReviewPhase: notes.some((note) => note.role === "review"),
    onExpiry: retry.onExpiry ?? DEFAULT_POLICY.onExpiry,
    maxAttempts: retry.maxAttempts ?? DEFAULT_POLICY.maxAttempts,
    backoff: retry.backoff ?? DEFAULT_POLICY.backoff,
  };
}

/**
 * The server's list replaces ours as a whole: what it leaves out has no label. A project's
 * list changes single triggers of it, and null takes a label away.
 */
function labelsOf({ root, global }: Layers): StatusLabels {
  return { ...(global.statusLabels ?? DEFAULT_LABELS), ...root?.statusLabels };
}
