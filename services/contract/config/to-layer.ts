/** From the words of a configuration text to the values that the rules of schemas work with. */
import type {
  ConfigLayer,
  DeclaredSeat,
  DispatchMap,
  PhaseDispatch,
  RetryRules,
  TraitSchema,
  TypeSchema,
} from "../../core/schemas/config-layer.ts";
import type { Dispatch, NoteSpec } from "../../core/schemas/item-schema.ts";
import { DEFAULT_POLICY } from "../../core/state.ts";
import type {
  ProjectSections,
  ServerSections,
  WrittenNote,
  WrittenPhase,
  WrittenRetry,
  WrittenSeat,
  WrittenTrait,
  WrittenType,
} from "./sections.ts";

export function toLayer(sections: ProjectSections | ServerSections): ConfigLayer {
  const { independence } = sections;
  return {
    fingerprint: null,
    // Both ways of writing count; where both define a name, the newer one does.
    schemas: new Map([
      ...mapped(sections.note_schemas, toTagSchema),
      ...mapped(sections.work_item_schemas, toTypeSchema),
    ]),
    traits: new Map(mapped(sections.traits, toTrait)),
    resources: new Map(
      mapped(sections.resources, ({ description, defaultTtlSeconds, maxHolders }) => ({
        description: description ?? "",
        defaultTtlSeconds: defaultTtlSeconds ?? null,
        maxHolders,
      })),
    ),
    resolution: sections.schema_resolution ?? null,
    statusLabels: sections.status_labels === undefined ? null : present(sections.status_labels),
    noteLimits: sections.note_limits?.mode ?? null,
    independence:
      independence === undefined
        ? null
        : { mode: independence.mode, requireVerified: independence.require_verified },
    retry: toRetry(sections.retry),
    onCancelled: sections.on_cancelled ?? null,
  };
}

function mapped<F, T>(record: Readonly<Record<string, F>>, turn: (from: F) => T): [string, T][] {
  return Object.entries(record).map(([name, from]) => [name, turn(from)]);
}

/** Without what was not said, so that it can be laid over something. */
function present<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function toTypeSchema(type: WrittenType): TypeSchema {
  return {
    lifecycle: type.lifecycle === "auto-reopen" ? "auto" : type.lifecycle,
    notes: type.notes.map(toNote),
    defaultTraits: type.default_traits ?? [],
    seats: type.seats.map(toSeat),
    retry: toRetry(type),
  };
}

function toTagSchema(notes: readonly WrittenNote[]): TypeSchema {
  return { lifecycle: "auto", notes: notes.map(toNote), defaultTraits: [], seats: [], retry: {} };
}

function toNote(note: WrittenNote): NoteSpec {
  return {
    key: note.key,
    role: note.role,
    required: note.required,
    description: note.description ?? "",
    guidance: note.guidance ?? null,
    skill: note.skill ?? null,
    maxLength: note.maxLength ?? null,
    seat: note.seat ?? null,
    independentOf: note.independent_of ?? [],
  };
}

function toSeat(seat: WrittenSeat): DeclaredSeat {
  return {
    name: seat.name,
    phase: seat.phase,
    enters: seat.enters,
    after: seat.after ?? [],
    readsExclude: seat.reads_exclude ?? [],
  };
}

function toRetry({ on_expiry, max_attempts, backoff, max_review_rounds }: WrittenRetry): RetryRules {
  return {
    ...(on_expiry === undefined ? {} : { onExpiry: on_expiry }),
    ...(max_attempts === undefined ? {} : { maxAttempts: max_attempts }),
    ...(backoff === undefined ? {} : { backoff: toBackoff(backoff) }),
    ...(max_review_rounds === undefined ? {} : { maxReviewRounds: max_review_rounds }),
  };
}

function toBackoff(written: NonNullable<WrittenRetry["backoff"]>): NonNullable<RetryRules["backoff"]> {
  const { firstMs, factor, maxMs } = DEFAULT_POLICY.backoff;
  const { first_seconds: first, max_seconds: max } = written;
  return {
    firstMs: first === undefined ? firstMs : first * 1_000,
    factor: written.factor ?? factor,
    maxMs: max === undefined ? maxMs : max * 1_000,
  };
}

function toTrait(trait: WrittenTrait): TraitSchema {
  return {
    notes: trait.notes?.map(toNote) ?? null,
    resources:
      trait.resources?.map(({ key, mode, ttlSeconds }) => ({ key, mode, ttlSeconds: ttlSeconds ?? null })) ??
      null,
    seats: trait.seats?.map(toSeat) ?? null,
    dispatch: trait.dispatch === undefined ? null : toDispatch(trait.dispatch),
  };
}

function toDispatch({ queue, work, review }: NonNullable<WrittenTrait["dispatch"]>): DispatchMap {
  return {
    ...(queue === undefined ? {} : { queue: toPhase(queue) }),
    ...(work === undefined ? {} : { work: toPhase(work) }),
    ...(review === undefined ? {} : { review: toPhase(review) }),
  };
}

function toPhase({ seats, ...fields }: WrittenPhase): PhaseDispatch {
  // Null is how a seat takes a field of its phase away; a phase has nothing above it.
  const said = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return {
    profile: said.length === 0 ? null : (Object.fromEntries(said) as Dispatch),
    seats: new Map(mapped(seats ?? {}, present)),
  };
}
