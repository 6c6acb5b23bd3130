/**
 * What traits add to an item. A trait only ever adds: it takes no note away, makes none
 * optional and moves none to another phase.
 */
import type {
  DeclaredResource,
  DeclaredSeat,
  DispatchMap,
  SeatDispatch,
  TraitSchema,
} from "./config-layer.ts";
import type { Layers } from "./find-schema.ts";
import {
  type Dispatch,
  type NoteSpec,
  type Phase,
  PHASES,
  type ResourceSpec,
  type Seat,
} from "./item-schema.ts";

/** What a lease lives for where nobody says. */
const RESOURCE_TTL_SECONDS_DEFAULT = 3_600;

/** The trait as the item's project sees it: part by part its own, else the server's. */
export function traitOf({ root, global }: Layers, name: string): TraitSchema | null {
  const own = root?.traits.get(name);
  const below = global.traits.get(name);
  if (own === undefined) return below ?? null;
  if (below === undefined) return own;
  return {
    notes: own.notes ?? below.notes,
    resources: own.resources ?? below.resources,
    seats: own.seats ?? below.seats,
    dispatch: own.dispatch ?? below.dispatch,
  };
}

/** The first of each key or name stays, and stays where it is. */
function firstOfEach<T>(lists: readonly (readonly T[])[], nameOf: (one: T) => string): T[] {
  const kept = new Map<string, T>();
  for (const one of lists.flat()) {
    const name = nameOf(one);
    if (!kept.has(name)) kept.set(name, one);
  }
  return [...kept.values()];
}

export function mergeNotes(own: readonly NoteSpec[], traits: readonly TraitSchema[]): NoteSpec[] {
  return firstOfEach([own, ...traits.map((trait) => trait.notes ?? [])], (note) => note.key);
}

/** A phase has one seat that it begins with: the first that says so. */
export function mergeSeats(own: readonly DeclaredSeat[], traits: readonly TraitSchema[]): DeclaredSeat[] {
  const entered = new Set<Phase>();
  const seats = firstOfEach([own, ...traits.map((trait) => trait.seats ?? [])], (seat) => seat.name);
  return seats.map((seat) => {
    if (!seat.enters || !entered.has(seat.phase)) {
      if (seat.enters) entered.add(seat.phase);
      return seat;
    }
    return { ...seat, enters: false };
  });
}

const STRICTNESS: readonly ResourceSpec["mode"][] = ["advisory", "shared", "exclusive"];

/**
 * A key that several traits name is taken once, in the strictest of their modes. What is known
 * of a key is the server's word before the project's: all projects share its resources.
 */
export function mergeResources(layers: Layers, traits: readonly TraitSchema[]): ResourceSpec[] {
  const merged = new Map<string, DeclaredResource>();
  for (const one of traits.flatMap((trait) => trait.resources ?? [])) {
    const before = merged.get(one.key);
    if (before === undefined) merged.set(one.key, one);
    else if (STRICTNESS.indexOf(one.mode) > STRICTNESS.indexOf(before.mode))
      merged.set(one.key, { ...before, mode: one.mode });
  }
  return [...merged.values()].map(({ key, mode, ttlSeconds }) => {
    const entry = layers.global.resources.get(key) ?? layers.root?.resources.get(key);
    return {
      key,
      mode,
      ttlSeconds: ttlSeconds ?? entry?.defaultTtlSeconds ?? RESOURCE_TTL_SECONDS_DEFAULT,
      capacity: mode === "shared" ? (entry?.maxHolders ?? 1) : 1,
    };
  });
}

/**
 * Of each phase the whole profile of the first trait that has one.
 *
 * @param traits the item's own before those of its schema: what is said of one item counts most
 */
export function mergeDispatch(traits: readonly TraitSchema[]): Partial<Record<Phase, Dispatch>> {
  const merged: Partial<Record<Phase, Dispatch>> = {};
  for (const phase of PHASES) {
    const profile = firstWith(traits, (dispatch) => dispatch[phase]?.profile);
    if (profile !== null) merged[phase] = profile;
  }
  return merged;
}

/** Gives each seat what is said of it, laid over what is said of its phase. */
export function dispatchSeats(
  seats: readonly DeclaredSeat[],
  phases: Readonly<Partial<Record<Phase, Dispatch>>>,
  traits: readonly TraitSchema[],
): Seat[] {
  return seats.map((seat) => {
    const over = firstWith(traits, (dispatch) => dispatch[seat.phase]?.seats.get(seat.name));
    return { ...seat, dispatch: layOver(phases[seat.phase] ?? {}, over ?? {}) };
  });
}

function firstWith<T>(
  traits: readonly TraitSchema[],
  find: (dispatch: DispatchMap) => T | null | undefined,
): T | null {
  for (const { dispatch } of traits) {
    const found = dispatch === null ? null : find(dispatch);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

function layOver(below: Dispatch, over: SeatDispatch): Dispatch | null {
  const fields = Object.entries({ ...below, ...over }).filter(([, value]) => value !== null);
  return fields.length === 0 ? null : (Object.fromEntries(fields) as Dispatch);
}
