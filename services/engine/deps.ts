/** What the use cases work with. Composition roots make it; tests make a smaller one. */
import type { Kysely } from "kysely";
import type { Database } from "../../db/schema.ts";
import type { Coordination } from "../coordination/port.ts";
import type { Identity } from "../core/claim.ts";
import type { SchemaSource } from "./config/schema-source.ts";
import { DEFAULT_RETENTION, type RetentionWindows } from "../core/retention.ts";
import type { ItemSchema } from "../core/schemas/item-schema.ts";
import type { EndReason, ItemPolicy, ItemState } from "../core/state.ts";
import type { ActorRules } from "./actors/actor-rules.ts";
import type { DatabaseTime } from "./database-time.ts";

export interface EngineLog {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

/** Told of what only the engine sees, for those who count. */
export interface EngineWatcher {
  attemptEnded(reason: EndReason): void;
  /** A lapsed claim went to another holder at once. */
  takenOver(): void;
  /** How many calls wait in this process now. */
  waiting(size: number): void;
}

export interface EngineSettings {
  /** `session`: a holder is (agent, session). `actor`: the name alone, as in task-orchestrator. */
  readonly identity: Identity;
  /** What an edge that does not say means when its blocker is cancelled. */
  readonly onCancelled: "hold" | "release";
  /** False: no resource is taken and none is held against anybody; what was taken is still let go of. */
  readonly resourceLeases: boolean;
  /** How many claims may wait in this process at once. */
  readonly maxWaiters: number;
  /** How many calls one flush may carry. */
  readonly maxBatch: number;
  readonly retention: RetentionWindows;
  /** Seals the secrets of webhooks; null: there can be none. */
  readonly secretKey: string | null;
  /** Webhooks may point to private and local addresses. */
  readonly privateWebhooks: boolean;
  /** Where `bodyFromFile` reads from; null: it is off. */
  readonly filesDir: string | null;
}

export const DEFAULT_SETTINGS: EngineSettings = {
  identity: "session",
  onCancelled: "hold",
  resourceLeases: true,
  maxWaiters: 1_000,
  maxBatch: 64,
  retention: DEFAULT_RETENTION,
  secretKey: null,
  privateWebhooks: false,
  filesDir: null,
};

/** Says how an item's schema wants it to live. */
export type PolicySource = (state: ItemState, schema: ItemSchema) => ItemPolicy;

export const defaultPolicies: PolicySource = (_, schema) => schema.policy;

export interface EngineDeps {
  readonly db: Kysely<Database>;
  readonly coordination: Coordination;
  readonly time: DatabaseTime;
  readonly log: EngineLog;
  readonly watcher?: EngineWatcher;
  readonly settings: EngineSettings;
  readonly policyOf: PolicySource;
  readonly schemas: SchemaSource;
  readonly actors: ActorRules;
  /** A number in [0, 1); for jitter and backoff. */
  readonly random: () => number;
}
