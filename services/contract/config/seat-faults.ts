/**
 * What makes a list of seats contradict itself. It is judged list by list, and for a type
 * together with its default traits as far as the same text defines them; what only meets when
 * texts are merged is settled by the merge.
 */
import type { ProjectSections, ServerSections, WrittenSeat } from "./sections.ts";

/** Notes that no seat owns are listed under this name. */
const RESERVED = "unowned";

export function seatFaults(sections: ProjectSections | ServerSections): string[] {
  const faults: string[] = [];
  for (const [name, trait] of Object.entries(sections.traits))
    faults.push(...faultsOf(`traits.${name}.seats`, trait.seats ?? []));
  for (const [name, type] of Object.entries(sections.work_item_schemas)) {
    const place = `work_item_schemas.${name}.seats`;
    const own = faultsOf(place, type.seats);
    if (own.length > 0) {
      faults.push(...own);
      continue;
    }
    const added = (type.default_traits ?? []).flatMap((trait) => sections.traits[trait]?.seats ?? []);
    faults.push(...faultsOf(`${place} with those of its default_traits`, [...type.seats, ...added]));
  }
  return faults;
}

function faultsOf(place: string, seats: readonly WrittenSeat[]): string[] {
  if (seats.some(({ name }) => name === RESERVED)) {
    return [`${place}: no seat may be called ${RESERVED}; notes without a seat are listed under that name`];
  }
  const twice = seats.find((seat, index) => seats.findIndex(({ name }) => name === seat.name) !== index);
  if (twice !== undefined) return [`${place}: ${twice.name} is there twice; give one of them another name`];
  const rival = seats.find(
    (seat, index) =>
      seat.enters && seats.findIndex((other) => other.enters && other.phase === seat.phase) !== index,
  );
  if (rival !== undefined)
    return [`${place}: two seats enter ${rival.phase}; a phase begins with one of them`];
  const ring = ringOf(seats);
  return ring === null ? [] : [`${place}: ${ring.join(" after ")} never begins; take one after: away`];
}

/** Seats that wait for each other, the first of them last again. */
function ringOf(seats: readonly WrittenSeat[]): string[] | null {
  const after = new Map(seats.map((seat) => [seat.name, seat.after ?? []]));
  const done = new Set<string>();
  const follow = (name: string, path: readonly string[]): string[] | null => {
    const seen = path.indexOf(name);
    if (seen >= 0) return [...path.slice(seen), name];
    if (done.has(name)) return null;
    for (const before of after.get(name) ?? []) {
      const ring = follow(before, [...path, name]);
      if (ring !== null) return ring;
    }
    done.add(name);
    return null;
  };
  for (const { name } of seats) {
    const ring = follow(name, []);
    if (ring !== null) return ring;
  }
  return null;
}
