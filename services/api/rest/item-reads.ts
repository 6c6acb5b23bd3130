/** Reads that more than one route answers with. */
import { isGranted, type Access } from "../../engine/access.ts";
import type { ItemDto } from "../../contract/rest/item-dtos.ts";
import type { EdgeDto, NoteDto } from "../../contract/rest/note-dtos.ts";
import type { WholeNote } from "../../contract/operations/query-notes.ts";
import type { OutputOf } from "../../contract/registry.ts";
import { toItemDto } from "./item-dto.ts";
import type { Run } from "./route.ts";

/** The item as it is now. */
export async function readItem(run: Run, itemId: string): Promise<ItemDto> {
  const item = await run("query_items", { operation: "get", itemId, includeTimestamps: true });
  return toItemDto(item as OutputOf<"query_items"> & { readonly id: string });
}

/** A note with all of its body, however many answers that takes. */
export async function readNote(run: Run, itemId: string, key: string): Promise<WholeNote> {
  let note = await getNote(run, itemId, key, 0);
  while (note.nextOffset !== undefined) {
    const { version, body, nextOffset } = note;
    const part = await getNote(run, itemId, key, nextOffset);
    // Written meanwhile: the parts of two texts are none.
    note =
      part.version === version ? { ...part, body: body + part.body } : await getNote(run, itemId, key, 0);
  }
  return note;
}

async function getNote(run: Run, itemId: string, key: string, offset: number): Promise<WholeNote> {
  return (await run("query_notes", { operation: "get", itemId, key, offset })) as WholeNote;
}

interface NoteLike extends Pick<NoteDto, "id" | "key" | "role" | "version" | "modifiedAt"> {
  readonly body?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly actor?: NoteDto["actor"];
  readonly verification?: NoteDto["verification"];
}

export function toNoteDto(note: NoteLike, access: Access): NoteDto {
  const { id, key, role, version, body = "", modifiedAt, createdAt = modifiedAt } = note;
  return {
    id,
    key,
    role,
    body,
    createdAt,
    modifiedAt,
    etag: `v${version}`,
    version,
    ...attributed(note, access),
  };
}

/** Who did it is for those who run the fleet. */
export function attributed<T extends { actor?: unknown; verification?: unknown }>(
  { actor, verification }: T,
  access: Access,
): Partial<Pick<T, "actor" | "verification">> {
  if (!isGranted(access, "operate")) return {};
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(verification === undefined ? {} : { verification }),
  };
}

const PART_MAX = 100;
const NOTES_MAX = 200;
/** Together; a project's longest notes would otherwise fill a client's memory. */
const BODIES_LENGTH_MAX = 4_000_000;

export interface NotePart {
  readonly notes: NoteDto[];
  readonly hasMore: boolean;
}

/** Notes with their bodies, from the offset on. */
export async function readNotes(
  run: Run,
  access: Access,
  asked: {
    readonly itemId: string;
    readonly role?: "queue" | "work" | "review" | undefined;
    readonly limit?: number;
    readonly offset?: number;
  },
): Promise<NotePart> {
  const { itemId, role, limit = NOTES_MAX, offset = 0 } = asked;
  const notes: NoteDto[] = [];
  let length = 0;
  let hasMore = true;
  while (hasMore && notes.length < limit && length < BODIES_LENGTH_MAX) {
    const page = (await run("query_notes", {
      operation: "list",
      itemId,
      ...(role === undefined ? {} : { role }),
      includeBody: true,
      limit: Math.min(PART_MAX, limit - notes.length),
      offset: offset + notes.length,
    })) as Extract<OutputOf<"query_notes">, { notes: unknown }>;
    for (const note of page.notes) {
      const whole = note.body === undefined ? await readNote(run, itemId, note.key) : note;
      length += whole.body?.length ?? 0;
      notes.push(toNoteDto(whole, access));
    }
    hasMore = page.hasMore && page.notes.length > 0;
  }
  return { notes, hasMore };
}

const EDGES_MAX = 1_000;

export interface Dependencies {
  readonly blocks: EdgeDto[];
  readonly blockedBy: EdgeDto[];
  readonly related: EdgeDto[];
  readonly truncated?: true;
}

/** The edges of an item, by what they are to it. */
export async function readDependencies(run: Run, itemId: string): Promise<Dependencies> {
  const edges: EdgeDto[] = [];
  let hasMore = true;
  while (hasMore && edges.length < EDGES_MAX) {
    const page = await run("query_dependencies", { itemId, limit: PART_MAX, offset: edges.length });
    const { dependencies } = page as Extract<typeof page, { dependencies: unknown }>;
    edges.push(...dependencies);
    hasMore = page.hasMore && dependencies.length > 0;
  }
  const isMine = (id: string): boolean => id === itemId || id.startsWith(itemId);
  const blocking = edges.filter((edge) => edge.type !== "RELATES_TO");
  return {
    blocks: blocking.filter((edge) => isMine(edge.fromItemId)),
    blockedBy: blocking.filter((edge) => !isMine(edge.fromItemId)),
    related: edges.filter((edge) => edge.type === "RELATES_TO"),
    ...(hasMore ? { truncated: true } : {}),
  };
}
