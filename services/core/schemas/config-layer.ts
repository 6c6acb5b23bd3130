/**
 * What one configuration text says, as plain values: the text of a project, or that of the
 * server. Null means that the text does not speak of it, so that the layer below counts.
 */
import type { Lifecycle } from "../roles.ts";
import type { BackoffPolicy } from "../state.ts";
import type { Dispatch, NoteSpec, Phase, ResourceSpec, Seat, StatusLabels } from "./item-schema.ts";

/** How the text of a project and that of the server are searched for an item's schema. */
export type SchemaResolution = "legacy" | "layered" | "isolated";

/** What a type, a project or the server says about attempts that end badly. */
export interface RetryRules {
  readonly onExpiry?: "requeue" | "hold";
  readonly maxAttempts?: number;
  readonly backoff?: BackoffPolicy;
  readonly maxReviewRounds?: number;
}

export type DeclaredSeat = Omit<Seat, "dispatch">;

/** A field that is null takes away what the phase says; one that is missing leaves it. */
export type SeatDispatch = { readonly [F in keyof Dispatch]?: string | null };

export interface PhaseDispatch {
  readonly profile: Dispatch | null;
  readonly seats: ReadonlyMap<string, SeatDispatch>;
}

export type DispatchMap = Readonly<Partial<Record<Phase, PhaseDispatch>>>;

export interface TypeSchema {
  readonly lifecycle: Lifecycle;
  readonly notes: readonly NoteSpec[];
  readonly defaultTraits: readonly string[];
  readonly seats: readonly DeclaredSeat[];
  readonly retry: RetryRules;
}

/** Each part counts by itself: a project that redefines only one keeps the others of the server's trait. */
export interface TraitSchema {
  readonly notes: readonly NoteSpec[] | null;
  readonly resources: readonly DeclaredResource[] | null;
  readonly seats: readonly DeclaredSeat[] | null;
  readonly dispatch: DispatchMap | null;
}

export interface DeclaredResource {
  readonly key: string;
  readonly mode: ResourceSpec["mode"];
  readonly ttlSeconds: number | null;
}

/** What is known of a resource, whoever needs it. */
export interface ResourceEntry {
  readonly description: string;
  readonly defaultTtlSeconds: number | null;
  readonly maxHolders: number;
}

export interface Independence {
  readonly mode: "off" | "warn" | "reject";
  readonly requireVerified: boolean;
}

export interface ConfigLayer {
  readonly fingerprint: string | null;
  readonly schemas: ReadonlyMap<string, TypeSchema>;
  readonly traits: ReadonlyMap<string, TraitSchema>;
  readonly resources: ReadonlyMap<string, ResourceEntry>;
  readonly resolution: SchemaResolution | null;
  readonly statusLabels: StatusLabels | null;
  readonly noteLimits: "warn" | "reject" | null;
  readonly independence: Independence | null;
  readonly retry: RetryRules;
  readonly onCancelled: "hold" | "release" | null;
}

/** A text that says nothing. */
export const EMPTY_LAYER: ConfigLayer = {
  fingerprint: null,
  schemas: new Map(),
  traits: new Map(),
  resources: new Map(),
  resolution: null,
  statusLabels: null,
  noteLimits: null,
  independence: null,
  retry: {},
  onCancelled: null,
};
