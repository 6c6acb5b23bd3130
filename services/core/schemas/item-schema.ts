/**
 * What the configuration says about one item, with every layer and trait already merged:
 * the only form in which decisions see configuration.
 */
import { DEFAULT_LABELS, type Trigger } from "../roles.ts";
import { DEFAULT_POLICY, type ItemPolicy } from "../state.ts";

export type Phase = "queue" | "work" | "review";

export const PHASES: readonly Phase[] = ["queue", "work", "review"];

/** A note that an item is expected to have. */
export interface NoteSpec {
  readonly key: string;
  /** The phase that the note belongs to, and that cannot be left without it if it is required. */
  readonly role: Phase;
  readonly required: boolean;
  readonly description: string;
  readonly guidance: string | null;
  readonly skill: string | null;
  readonly maxLength: number | null;
  /** The seat whose work this note is. */
  readonly seat: string | null;
  /** Seats whose authors may not write this note. */
  readonly independentOf: readonly string[];
}

export interface ResourceSpec {
  readonly key: string;
  readonly mode: "exclusive" | "shared" | "advisory";
  readonly ttlSeconds: number;
  /** How many may share it; 1 unless the mode is `shared`. */
  readonly capacity: number;
}

/** Who should do a phase. Served to whoever starts agents; never enforced. */
export interface Dispatch {
  readonly agent?: string;
  readonly model?: string;
  readonly effort?: string;
}

/** A named part in a phase, to be played by one agent. */
export interface Seat {
  readonly name: string;
  readonly phase: Phase;
  /** It is the seat that a phase begins with. */
  readonly enters: boolean;
  /** Seats that come before it. */
  readonly after: readonly string[];
  /** Keys of notes that it should not be shown. */
  readonly readsExclude: readonly string[];
  /** Who should play it: the phase's dispatch with what is said of this seat laid over it. */
  readonly dispatch: Dispatch | null;
}

/** `cascade` stands for moves that nobody asked for. */
export type LabelKey = Trigger | "cascade";

/** A trigger that is not listed, or listed with null, leaves no label. */
export type StatusLabels = Readonly<Partial<Record<LabelKey, string | null>>>;

export interface ItemSchema {
  /** The name of the schema that matched: a type, a tag or `default`. Null: the item is schema-free. */
  readonly type: string | null;
  readonly matched: boolean;
  /** Of the schema and its traits, merged: the schema's own first, and a key counts once. */
  readonly notes: readonly NoteSpec[];
  /** Of the traits, merged by key; a schema-free item has those of its traits too. */
  readonly resources: readonly ResourceSpec[];
  readonly dispatch: Readonly<Partial<Record<Phase, Dispatch>>>;
  /** The schema's own first, then those that its traits add. */
  readonly seats: readonly Seat[];
  /** Lifecycle, review phase, and what becomes of attempts that end badly. */
  readonly policy: ItemPolicy;
  readonly labels: StatusLabels;
  readonly independence: "off" | "warn" | "reject";
  /** Only verified names count when authors are compared. */
  readonly requireVerified: boolean;
  /** How often a review may send an item back before a person has to decide. */
  readonly maxReviewRounds: number;
  /** What a new edge into the item means when its blocker is cancelled, unless it says; null: nobody said. */
  readonly onCancelled: "hold" | "release" | null;
  /** What becomes of a note that is longer than its schema allows. */
  readonly noteLimits: "warn" | "reject";
  /** Those that took effect, the schema's own first. */
  readonly traits: readonly string[];
  /** Named by the item or its schema, and defined nowhere. */
  readonly unknownTraits: readonly string[];
  /** Every trait that an item of this project can be given. */
  readonly availableTraits: readonly string[];
  /** Where the schema was found. */
  readonly source: "root" | "global" | "none";
  /** Of the configuration that it was found in. */
  readonly fingerprint: string | null;
}

export const MAX_REVIEW_ROUNDS_DEFAULT = 5;

/** What holds where nothing is configured: no gates, no review phase. */
export const SCHEMA_FREE: ItemSchema = {
  type: null,
  matched: false,
  notes: [],
  resources: [],
  dispatch: {},
  seats: [],
  policy: DEFAULT_POLICY,
  labels: DEFAULT_LABELS,
  independence: "warn",
  requireVerified: false,
  maxReviewRounds: MAX_REVIEW_ROUNDS_DEFAULT,
  onCancelled: null,
  noteLimits: "warn",
  traits: [],
  unknownTraits: [],
  availableTraits: [],
  source: "none",
  fingerprint: null,
};
