/** Which events one stream gets, and what of each it may know. */
import type { StoredEvent } from "../../../db/stores/event-store.ts";
import { EVENT_TYPES, type EventType, type WireEvent } from "../../contract/events.ts";

export interface EventFilter {
  /** As in `Access`: items whose subtrees are seen; null: everything. */
  readonly scope: readonly string[] | null;
  /** Items whose subtrees were asked for; null: all that are seen. */
  readonly roots: readonly string[] | null;
  readonly types: ReadonlySet<EventType> | null;
}

/** Answers what the stream gets for an event, or null. */
export type EventView = (event: StoredEvent) => WireEvent | null;

/** What is seen is what was asked for and what the caller may see: asking for what one may not see gives nothing. */
export function createEventView({ scope, roots, types }: EventFilter): EventView {
  const inScope = membership(scope);
  const asked = membership(roots);
  const sees = (path: readonly string[]): boolean => inScope(path) && asked(path);
  return (event) => {
    const type = typeFor(event, sees);
    if (type === null || (types !== null && !types.has(type))) return null;
    return toWire(event, type, inScope);
  };
}

type Sees = (path: readonly string[]) => boolean;

function membership(ids: readonly string[] | null): Sees {
  if (ids === null) return () => true;
  const set = new Set(ids);
  return (path) => path.some((id) => set.has(id));
}

function typeFor(event: StoredEvent, sees: Sees): EventType | null {
  const type = Object.hasOwn(EVENT_TYPES, event.type) ? (event.type as EventType) : null;
  if (type !== "item.moved") return sees(pathOf(event)) || sees(otherPathOf(event)) ? type : null;
  const id = itemOf(event);
  const before = sees([...idsIn(event.data["fromAncestors"]), ...id]);
  const after = sees([...idsIn(event.data["toAncestors"]), ...id]);
  if (before && after) return type;
  if (after) return "scope.entered";
  return before ? "scope.left" : null;
}

/** The item and what it is under. Where it is now counts, unless it is gone. */
function pathOf(event: StoredEvent): readonly string[] {
  const kept = event.data["ancestors"];
  const ancestors = kept === undefined ? (event.ancestors ?? []) : idsIn(kept);
  return [...(event.rootId === null ? [] : [event.rootId]), ...ancestors, ...itemOf(event)];
}

/** The same for the other end of an edge; nothing if the event is not about one. */
function otherPathOf(event: StoredEvent): readonly string[] {
  const other = event.data["fromItemId"];
  return typeof other === "string" && event.otherAncestors !== null ? [...event.otherAncestors, other] : [];
}

function itemOf({ itemId }: StoredEvent): readonly string[] {
  return itemId === null ? [] : [itemId];
}

function idsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** Ids that the caller may not see are left out, as everywhere else. */
function toWire(event: StoredEvent, type: EventType, inScope: Sees): WireEvent {
  const { itemId, rootId } = event;
  const seesItem = type === "scope.left" || inScope(pathOf(event));
  const otherId = event.data["fromItemId"];
  const other = typeof otherId === "string" && inScope(otherPathOf(event)) ? otherId : undefined;
  const shown = seesItem ? (itemId ?? undefined) : other;
  return {
    id: String(event.seq),
    event: type,
    ...(shown !== undefined && { itemId: shown }),
    ...(rootId !== null && inScope([rootId]) && { rootId }),
    modifiedAt: new Date(event.at).toISOString(),
    ...(event.traceparent !== null && { traceparent: event.traceparent }),
    ...detailsOf(event, type, inScope),
    ...(seesItem && other !== undefined && { otherItemId: other }),
  };
}

/** Field of the stored data -> field on the wire. What is not named here stays inside. */
const DETAILS: Readonly<Partial<Record<EventType, Readonly<Record<string, string>>>>> = {
  "item.updated": { version: "version", fields: "fields" },
  "item.deleted": { descendants: "descendants" },
  "item.restored": { descendants: "descendants" },
  "item.advanced": { from: "previousRole", to: "newRole", trigger: "trigger" },
  "item.dead": { attempts: "attempts" },
  "note.upserted": { key: "key", role: "role", version: "version" },
  "note.deleted": { key: "key" },
  "dependency.added": { id: "dependencyId", type: "type" },
  "dependency.removed": { id: "dependencyId", type: "type" },
  // Without the fence: with the name beside it, it would open the claim to whoever reads along.
  "claim.granted": { agent: "agent" },
  "claim.expired": { agent: "agent", reason: "reason" },
  "claim.ended": { agent: "agent", reason: "reason" },
  "lease.acquired": { keys: "keys" },
  "lease.released": { keys: "keys" },
  "lease.force_released": { keys: "keys" },
  "config.changed": { fingerprint: "fingerprint" },
  "document.stashed": { slug: "slug" },
  "document.adopted": { slug: "slug" },
};

function detailsOf({ data, ancestors, rootId }: StoredEvent, type: EventType, inScope: Sees) {
  const named = Object.entries(DETAILS[type] ?? {}).flatMap(([from, to]) =>
    data[from] === undefined ? [] : [[to, data[from]] as const],
  );
  const details: Record<string, unknown> = Object.fromEntries(named);
  const parent = type === "item.created" ? data["parentId"] : data["to"];
  if (typeof parent !== "string" || !PLACING.has(type)) return details;
  const above =
    type === "item.created" ? [...(ancestors ?? []), rootId ?? parent] : idsIn(data["toAncestors"]);
  return inScope([...above, parent]) ? { ...details, parentId: parent } : details;
}

/** Types that say where the item hangs. */
const PLACING = new Set<EventType>(["item.created", "item.moved", "scope.entered"]);
