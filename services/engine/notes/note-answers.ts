/** What callers read of a note that was written, and of one that was not. */
import type { AuthorRow } from "../../../db/stores/note-store.ts";
import type { NoteFailure, WrittenNoteAnswer } from "../../contract/operations/manage-notes.ts";
import type { TextVersion } from "../../contract/text-fields.ts";
import { shownActor, shownVerification } from "../actors/verification.ts";
import type { EngineDeps } from "../deps.ts";
import { failureOf } from "../writing/element-failure.ts";
import type { WrittenNote } from "./write-notes.ts";

/** What the reader of a failure is spared to dig for. */
const SHOWN_BESIDE: readonly string[] = ["key", "maxLength", "actualLength"];

export function toFailure(
  deps: EngineDeps,
  index: number,
  id: string | undefined,
  thrown: unknown,
): NoteFailure {
  const failure = failureOf(deps, index, id, thrown);
  const beside = Object.entries(failure.details ?? {}).filter(([name]) => SHOWN_BESIDE.includes(name));
  return { ...failure, code: failure.errorCode, ...Object.fromEntries(beside) };
}

export function toWrittenNote(note: WrittenNote, body: string): WrittenNoteAnswer {
  const { id, itemId, key, role, version, warning } = note;
  return {
    id,
    itemId,
    key,
    role,
    version,
    createdAt: note.createdAt.toISOString(),
    modifiedAt: note.modifiedAt.toISOString(),
    bodyLength: body.length,
    ...(warning === null ? {} : { warning }),
    ...attribution(note.author),
  };
}

/** Who wrote something, and what became of the proof; nothing where nothing is known. */
export function attribution(
  author: Pick<AuthorRow, "actor" | "verification">,
): Pick<WrittenNoteAnswer, "actor" | "verification"> {
  const actor = shownActor(author.actor);
  const verification = shownVerification(author.verification);
  return {
    ...(actor === null ? {} : { actor: actor as WrittenNoteAnswer["actor"] }),
    ...(verification === null ? {} : { verification }),
  };
}

export interface VersionRow extends Pick<AuthorRow, "actor" | "verification"> {
  readonly version: number;
  readonly at: Date;
  readonly body_length?: number;
}

export function toVersion(row: VersionRow): TextVersion {
  return {
    version: row.version,
    at: row.at.toISOString(),
    ...(row.body_length === undefined ? {} : { bodyLength: row.body_length }),
    ...attribution(row),
  };
}
