/** `query_items` with operation schema: what an item is expected to have, with every word of it. */
import { readItem } from "../../../db/stores/item-read-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { type AskSchema, SCHEMA_FEATURES, type SchemaAnswer } from "../../contract/schema-answer.ts";
import type { Dispatch, ItemSchema, NoteSpec, Seat } from "../../core/schemas/item-schema.ts";
import { toNote } from "../config/describe-config.ts";
import { requireRoot } from "../config/require-root.ts";
import type { SchemaSource } from "../config/schema-source.ts";
import { requireItem } from "../resolve-items.ts";
import type { Looker } from "../access.ts";

export async function describeSchema(
  handle: Handle,
  schemas: SchemaSource,
  asked: AskSchema,
  caller: Looker,
): Promise<SchemaAnswer> {
  const { type } = asked;
  return type === undefined
    ? await describeOfItem(handle, schemas, asked.itemId ?? "", caller) // Never empty: the contract asks for one of them.
    : await describeOfType(handle, schemas, type, asked.rootId, caller);
}

async function describeOfItem(
  handle: Handle,
  schemas: SchemaSource,
  ref: string,
  caller: Looker,
): Promise<SchemaAnswer> {
  const id = await requireItem(handle, ref, caller);
  const row = await readItem(handle, id);
  if (row === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  const { root_id: rootId, type, tags, traits } = row;
  const loaded = await schemas.load(handle, [rootId]);
  const schema = loaded.of({ rootId, type, tags, traits });
  if (schema.matched) return toAnswer(schema);
  throw fault("RESOURCE_NOT_FOUND", `the item ${id} has no schema: nothing is expected of it`, {
    hint: "Give it a type that is configured, or push a schema with manage_project_config.",
  });
}

async function describeOfType(
  handle: Handle,
  schemas: SchemaSource,
  type: string,
  rootRef: string | undefined,
  caller: Looker,
): Promise<SchemaAnswer> {
  const rootId = rootRef === undefined ? null : await requireItem(handle, rootRef, caller);
  if (rootId !== null) await requireRoot(handle, rootId);
  const loaded = await schemas.load(handle, rootId === null ? [] : [rootId]);
  const schema = loaded.of({ rootId, type, tags: [], traits: [] });
  if (schema.matched) return toAnswer(schema);
  throw fault("RESOURCE_NOT_FOUND", `no schema is configured for the type ${type}`, {
    hint:
      rootId === null
        ? "Pass rootId as well if the type belongs to a project, or look at the spelling: case counts."
        : "Look at the spelling, case counts; manage_project_config get shows what the project configured.",
  });
}

/** Longer texts in one answer than this are more than a model takes in at once. */
const TEXT_LENGTH_MAX = 60_000;
/** What is left of each text of a schema that is too long. */
const CUT_TO = 200;

function toAnswer(schema: ItemSchema): SchemaAnswer {
  const length = schema.notes.reduce(
    (sum, { description, guidance }) => sum + description.length + (guidance?.length ?? 0),
    0,
  );
  const truncated = length > TEXT_LENGTH_MAX;
  const { policy, traits, unknownTraits, resources, seats } = schema;
  const bySeat = seats.flatMap(({ name, dispatch }): [string, Dispatch][] =>
    dispatch === null ? [] : [[name, dispatch]],
  );
  return {
    type: schema.type ?? "",
    configFingerprint: schema.fingerprint,
    configSource: schema.source === "root" ? "per-root" : "global",
    lifecycle: policy.lifecycle,
    hasReviewPhase: policy.hasReviewPhase,
    notes: schema.notes.map((note) => toShortNote(note, truncated ? CUT_TO : Number.POSITIVE_INFINITY)),
    traits: [...traits],
    ...(unknownTraits.length === 0 ? {} : { unknownTraits: [...unknownTraits] }),
    ...(resources.length === 0
      ? {}
      : {
          resources: resources.map(({ key, mode, ttlSeconds, capacity }) => ({
            key,
            mode,
            ttlSeconds,
            ...(mode === "shared" ? { capacity } : {}),
          })),
        }),
    ...(Object.keys(schema.dispatch).length === 0 ? {} : { dispatch: { ...schema.dispatch } }),
    ...(seats.length === 0 ? {} : { seats: seats.map(toSeat) }),
    ...(bySeat.length === 0 ? {} : { dispatchBySeat: Object.fromEntries(bySeat) }),
    statusLabels: { ...schema.labels },
    noteLimits: schema.noteLimits,
    independence: { mode: schema.independence, requireVerified: schema.requireVerified },
    retry: {
      onExpiry: policy.onExpiry,
      maxAttempts: policy.maxAttempts,
      maxReviewRounds: schema.maxReviewRounds,
      backoff: {
        firstSeconds: policy.backoff.firstMs / 1_000,
        factor: policy.backoff.factor,
        maxSeconds: policy.backoff.maxMs / 1_000,
      },
    },
    features: [...SCHEMA_FEATURES],
    ...(truncated ? { truncated } : {}),
  };
}

function toShortNote(note: NoteSpec, max: number): SchemaAnswer["notes"][number] {
  const { description, guidance } = note;
  return toNote({
    ...note,
    description: description.slice(0, max),
    guidance: guidance?.slice(0, max) ?? null,
  });
}

function toSeat({
  name,
  phase,
  enters,
  after,
  readsExclude,
}: Seat): NonNullable<SchemaAnswer["seats"]>[number] {
  return {
    name,
    phase,
    ...(enters ? { enters } : {}),
    ...(after.length === 0 ? {} : { after: [...after] }),
    ...(readsExclude.length === 0 ? {} : { readsExclude: [...readsExclude] }),
  };
}
