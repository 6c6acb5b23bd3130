/**
 * Where use cases get the schemas of items from. They load them once in their transaction,
 * for the roots that they touch, and then ask as often as they like without waiting.
 *
 * The database says which text counts, in every transaction: a push on one replica holds on
 * all others from its commit on. Texts are parsed once, and kept by their fingerprint.
 */
import { findFingerprints, readTexts } from "../../../db/stores/project-config-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { Parsed, ProjectConfig } from "../../contract/config/parse-config.ts";
import { type ConfigLayer, EMPTY_LAYER } from "../../core/schemas/config-layer.ts";
import type { Layers } from "../../core/schemas/find-schema.ts";
import type { ItemSchema } from "../../core/schemas/item-schema.ts";
import { resolveSchema, type SchemaSubject } from "../../core/schemas/resolve-schema.ts";
import { createRecent } from "./recent.ts";
import { readProjectConfig } from "./read-config.ts";

/** What an item's schema follows from; every `ItemState` has it. */
export interface SchemaKey extends SchemaSubject {
  readonly rootId: string;
}

export interface Schemas {
  /**
   * Without a root, what the server says alone.
   *
   * @throws Error for an item of a root that they were not loaded for
   */
  of(item: SchemaSubject & { readonly rootId: string | null }): ItemSchema;
}

export interface SchemaSource {
  /**
   * What is configured for these roots as of now, in one statement: texts that were seen before
   * are not read again.
   *
   * @throws MusterError `config_unavailable` if a project's text cannot be read and none that
   *   could be is known: gates never open because something is broken
   */
  load(handle: Handle, rootIds: Iterable<string>): Promise<Schemas>;
  /** The texts themselves, as of now; without a root, the server's alone. */
  layersOf(handle: Handle, rootId: string | null): Promise<Layers>;
  /** The same for whoever has asked already which texts count: by root, without those that have none. */
  loadTexts(
    handle: Handle,
    rootIds: Iterable<string>,
    fingerprints: ReadonlyMap<string, string>,
  ): Promise<Schemas>;
}

export interface SchemaSourceOptions {
  /** What the server's own file says at the moment; nothing if it is left out. */
  readonly server?: () => ConfigLayer;
  readonly log: { warn(data: object, message: string): void };
}

/** Texts that are kept parsed. */
const TEXTS_KEPT = 500;
/** Kinds of items whose schema is kept, by pair of texts. */
const SCHEMAS_KEPT = 1_000;

export function createSchemaSource({ server = () => EMPTY_LAYER, log }: SchemaSourceOptions): SchemaSource {
  const { findTexts, layerOf } = createTexts(log);
  const resolve = createResolver();

  const loadTexts: SchemaSource["loadTexts"] = async (handle, rootIds, fingerprints) => {
    const wanted = new Set(rootIds);
    const found = fingerprints.size === 0 ? [] : await findTexts(handle, fingerprints);
    const layers = new Map(found.map(([rootId, parsed]) => [rootId, layerOf(rootId, parsed)]));
    const global = server();
    return {
      of(item) {
        const { rootId } = item;
        if (rootId !== null && !wanted.has(rootId))
          throw new Error(`no schemas were loaded for the root ${rootId}`);
        return resolve(rootId === null ? null : (layers.get(rootId) ?? null), global, item);
      },
    };
  };

  return {
    async layersOf(handle, rootId) {
      const found = rootId === null ? [] : await findTexts(handle, await findFingerprints(handle, [rootId]));
      const [text] = found.map(([id, parsed]) => layerOf(id, parsed));
      return { root: text ?? null, global: server() };
    },
    async load(handle, rootIds) {
      const wanted = [...new Set(rootIds)];
      const counted =
        wanted.length === 0 ? new Map<string, string>() : await findFingerprints(handle, wanted);
      return await loadTexts(handle, wanted, counted);
    },
    loadTexts,
  };
}

interface ProjectTexts {
  /** The texts with these fingerprints; those that were seen before are not read again. */
  findTexts(
    handle: Handle,
    fingerprints: ReadonlyMap<string, string>,
  ): Promise<[rootId: string, Parsed<ProjectConfig>][]>;
  /** What counts for the project: its text, or the last of its texts that could be read. */
  layerOf(rootId: string, parsed: Parsed<ProjectConfig>): ConfigLayer;
}

function createTexts(log: SchemaSourceOptions["log"]): ProjectTexts {
  const texts = createRecent<string, Parsed<ProjectConfig>>(TEXTS_KEPT);
  /** What each root's text said when it could last be read. */
  const lastGood = createRecent<string, ConfigLayer>(TEXTS_KEPT);

  const read = (rootId: string, fingerprint: string, text: string): Parsed<ProjectConfig> => {
    const parsed = texts.get(fingerprint) ?? readProjectConfig(text);
    texts.set(fingerprint, parsed);
    if (!parsed.ok) {
      const kept = lastGood.get(rootId)?.fingerprint;
      log.warn({ rootId, fingerprint, faults: parsed.faults, kept }, "unreadable configuration of a project");
    }
    return parsed;
  };

  const findTexts = async (
    handle: Handle,
    fingerprints: ReadonlyMap<string, string>,
  ): Promise<[rootId: string, Parsed<ProjectConfig>][]> => {
    const found: [string, Parsed<ProjectConfig>][] = [];
    const unseen: string[] = [];
    for (const [rootId, fingerprint] of fingerprints) {
      const parsed = texts.get(fingerprint);
      if (parsed === undefined) unseen.push(rootId);
      else found.push([rootId, parsed]);
    }
    if (unseen.length === 0) return found;
    const rows = await readTexts(handle, unseen);
    return [
      ...found,
      ...rows.map((row): [string, Parsed<ProjectConfig>] => [
        row.rootId,
        read(row.rootId, row.fingerprint, row.text),
      ]),
    ];
  };

  const layerOf = (rootId: string, parsed: Parsed<ProjectConfig>): ConfigLayer => {
    if (parsed.ok) {
      lastGood.set(rootId, parsed.config.layer);
      return parsed.config.layer;
    }
    const good = lastGood.get(rootId);
    if (good !== undefined) return good;
    throw fault("config_unavailable", `the configuration of the project ${rootId} cannot be read`, {
      hint: "Push a correct one with manage_project_config; until then nothing of this project moves.",
      details: { rootId, faults: parsed.faults },
    });
  };

  return { findTexts, layerOf };
}

/** Resolves as the rules do, and remembers what came out: most items are of few kinds. */
function createResolver(): (
  root: ConfigLayer | null,
  global: ConfigLayer,
  item: SchemaSubject,
) => ItemSchema {
  const known = new WeakMap<ConfigLayer, WeakMap<ConfigLayer, Map<string, ItemSchema>>>();
  return (root, global, { type, tags, traits }) => {
    const below = known.get(global) ?? new WeakMap<ConfigLayer, Map<string, ItemSchema>>();
    known.set(global, below);
    const kinds = below.get(root ?? EMPTY_LAYER) ?? new Map<string, ItemSchema>();
    below.set(root ?? EMPTY_LAYER, kinds);
    const kind = JSON.stringify([type, tags, traits]);
    const before = kinds.get(kind);
    if (before !== undefined) return before;
    if (kinds.size >= SCHEMAS_KEPT) kinds.clear();
    const schema = resolveSchema({ root, global }, { type, tags, traits });
    kinds.set(kind, schema);
    return schema;
  };
}
