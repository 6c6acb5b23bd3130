/** What a client asks of the stream of events: its filters, and where it was. */
import { z } from "zod";
import { fault } from "../../contract/errors.ts";
import { BOUNDARY_EVENT_TYPES, EVENT_TYPES, type EventType, isEventType } from "../../contract/events.ts";

/** More roots in one stream than anybody watches, and still quick to look through. */
const ROOTS_MAX = 100;

export interface EventsRequest {
  readonly roots: readonly string[] | null;
  readonly types: ReadonlySet<EventType> | null;
  /** The number of the last event that the client has; null: none. NaN: it is no number. */
  readonly after: number | null;
}

const uuid = z.uuid();

/** @throws MusterError `VALIDATION_ERROR` that names what is wrong. */
export function readEventsRequest(query: URLSearchParams, lastEventId: string | undefined): EventsRequest {
  const unknown = [...query.keys()].find((key) => key !== "root" && key !== "types");
  if (unknown !== undefined)
    throw invalid(`there is no parameter ${JSON.stringify(unknown.slice(0, 40))}: use root and types`);
  return {
    roots: readRoots(query.getAll("root")),
    types: readTypes(query.getAll("types")),
    after: readNumber(lastEventId),
  };
}

function readRoots(texts: readonly string[]): readonly string[] | null {
  if (texts.length === 0) return null;
  if (texts.length > ROOTS_MAX) throw invalid(`root may be there ${ROOTS_MAX} times at most`);
  if (!texts.every((text) => uuid.safeParse(text).success))
    throw invalid("root has to be the full id of an item");
  return texts.map((text) => text.toLowerCase());
}

function readTypes(texts: readonly string[]): ReadonlySet<EventType> | null {
  const names = texts.flatMap((text) => text.split(",")).map((name) => name.trim());
  const types = names.filter((name) => name !== "");
  if (types.length === 0) return null;
  const known = types.filter(isEventType);
  if (known.length === types.length) return new Set(known);
  const all = [...Object.keys(EVENT_TYPES), ...Object.keys(BOUNDARY_EVENT_TYPES)];
  throw invalid(`types names something that is no event. Events are ${all.join(", ")}`);
}

/** What is no number of ours is told to the client in the stream: it may come from another server. */
function readNumber(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function invalid(message: string) {
  return fault("VALIDATION_ERROR", message);
}
