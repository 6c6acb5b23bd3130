/**
 * Puts a brief into its budget. Sections come in the order of their worth; what has no room is named
 * with its size and the call that fetches it, and those names have their room before anything else.
 */
import { type Brief, BRIEF_SECTIONS, type BriefSection, type Omission } from "../../contract/briefs.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import { sizeOf } from "../queries/fit-page.ts";

/** A section with one entry for a single thing, or with the entries of a list. */
export interface BriefPart {
  readonly entries: readonly unknown[];
  readonly single?: boolean;
  /** A shorter form of an entry, of about so many bytes; null if it has none. */
  readonly clip?: (entry: unknown, bytes: number) => unknown;
  /** Entries that are there and were not even read. */
  readonly unread?: { readonly entries: number; readonly bytes: number };
  readonly fetch: string;
}

export type BriefParts = Readonly<Partial<Record<BriefSection, BriefPart>>>;

const TRUST = { origin: "others", mayContainInstructions: true, executable: false } as const;
/** Less than this of a text is not worth its place. */
const CLIPPED_MIN_BYTES = 400;
const TITLE_LENGTHS = [120, 40];

export function fitBrief(item: Brief["item"], parts: BriefParts, budget: number): Brief {
  const sections = BRIEF_SECTIONS.flatMap((section) => {
    const part = parts[section];
    return part === undefined || countOf(part) === 0 ? [] : [{ section, part }];
  });
  const all = sections.map(({ section, part }) => omission(section, part, 0));
  const shown: Record<string, unknown> = {
    item: fitItem(item, budget - sizeOf(all) - sizeOf(TRUST) - FRAME_BYTES),
  };
  let room = budget - sizeOf({ ...shown, omitted: all, trust: TRUST });
  const omitted: Omission[] = [];
  for (const [at, { section, part }] of sections.entries()) {
    const { kept, size } = fill(part, room - section.length - FRAME_BYTES / 4);
    if (kept.length > 0) {
      shown[section] = part.single === true ? kept[0] : kept;
      room -= size + section.length + FRAME_BYTES / 4;
    }
    const left = omission(section, part, kept.length);
    if (left.entries > 0) omitted.push(left);
    else room += sizeOf(all[at]); // Nobody has to be told where it is.
  }
  return { ...shown, omitted, trust: TRUST } as unknown as Brief;
}

/** Names, braces and commas. */
const FRAME_BYTES = 64;

function countOf({ entries, unread }: BriefPart): number {
  return entries.length + (unread?.entries ?? 0);
}

function omission(section: BriefSection, part: BriefPart, kept: number): Omission {
  const left = part.entries.slice(kept);
  const { entries = 0, bytes = 0 } = part.unread ?? {};
  return {
    section,
    entries: left.length + entries,
    bytes: (left.length === 0 ? 0 : sizeOf(left)) + bytes,
    fetch: part.fetch,
  };
}

/** As many entries as fit, from the first on; the first that does not fit is clipped if it can be. */
function fill(part: BriefPart, room: number): { readonly kept: readonly unknown[]; readonly size: number } {
  const kept: unknown[] = [];
  let size = 2;
  for (const entry of part.entries) {
    const whole = sizeOf(entry) + 1;
    if (size + whole <= room) {
      kept.push(entry);
      size += whole;
      continue;
    }
    const left = room - size;
    const short = left >= CLIPPED_MIN_BYTES ? (part.clip?.(entry, left - 1) ?? null) : null;
    if (short !== null && size + sizeOf(short) + 1 <= room) {
      kept.push(short);
      size += sizeOf(short) + 1;
    }
    break;
  }
  return { kept, size };
}

/** The item is always there: without its free texts if it must be, and with the beginning of its title. */
function fitItem(item: Brief["item"], room: number): Brief["item"] {
  const {
    id,
    title,
    role,
    priority,
    parentId,
    rootId,
    version,
    summary,
    properties: _,
    metadata: __,
    ...rest
  } = item;
  const core = { id, title, role, priority, parentId, rootId, version };
  const forms: readonly Brief["item"][] = [
    item,
    { ...core, ...rest, ...(summary === undefined ? {} : { summary }) },
    { ...core, ...(summary === undefined ? {} : { summary: clipText(summary, 300) }) },
    core,
    ...TITLE_LENGTHS.map((length) => ({ ...core, title: clipText(title, length) })),
  ];
  return forms.find((form) => sizeOf(form) <= room) ?? { ...core, title: clipText(title, 20) };
}

/** The beginning of a text of at most so many bytes as it is sent. */
export function clipBytes(text: string, bytes: number): string {
  let part = clipText(text, Math.max(0, bytes));
  while (part !== "" && sizeOf(part) > bytes) {
    part = clipText(text, Math.floor(part.length * Math.min(bytes / sizeOf(part), 0.95)));
  }
  return part;
}
