/** Notes of an item. */
import { z } from "zod";
import type { DeleteNotesOutput, WriteNotesOutput } from "../../contract/operations/manage-notes.ts";
import { fault } from "../../contract/errors.ts";
import { noteDto, noteWriteDto } from "../../contract/rest/note-dtos.ts";
import { pageShape, toWindow } from "../../contract/rest/pages.ts";
import { noteRole } from "../../contract/text-fields.ts";
import type { OutputOf, RequestOf } from "../../contract/registry.ts";
import { onlyElement, replayMark } from "./element.ts";
import { mismatch, quoted, versionOf } from "./etag.ts";
import { readNote, readNotes, toNoteDto } from "./item-reads.ts";
import { JSON_BODY, type Route, route } from "./route.ts";

const AREA = "Notes";

export const NOTE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/items/{id}/notes",
    area: AREA,
    summary: "List the notes of an item with their bodies",
    operation: "query_notes",
    query: z.strictObject({ role: noteRole.optional(), ...pageShape() }),
    success: [
      {
        status: 200,
        description: "Its notes; `x-has-more: true` says that there is another page",
        schema: z.array(noteDto),
      },
    ],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: async ({ params }, run) => {
      const itemId = params["id"] ?? "";
      await run("query_items", { operation: "get", itemId });
      return { operation: "list", itemId, limit: 1 };
    },
    toResponse: async (_output, { params, query, access }, run) => {
      const itemId = params["id"] ?? "";
      const { notes, hasMore } = await readNotes(run, access, {
        itemId,
        role: query.role,
        ...toWindow(query),
      });
      return { status: 200, body: notes, headers: { "x-has-more": String(hasMore) } };
    },
  }),
  route({
    method: "GET",
    path: "/items/{id}/notes/{key+}",
    area: AREA,
    summary: "Read a note",
    operation: "query_notes",
    conditional: true,
    success: [{ status: 200, description: "The note", schema: noteDto }],
    refusals: ["RESOURCE_NOT_FOUND"],
    toInput: ({ params }) => ({ operation: "get", itemId: params["id"], key: params["key"] }),
    toResponse: async (output, { params, access }, run) => {
      const got = output as Extract<OutputOf<"query_notes">, { body: string }>;
      const whole =
        got.nextOffset === undefined ? got : await readNote(run, params["id"] ?? "", params["key"] ?? "");
      const note = toNoteDto(whole, access);
      return { status: 200, body: note, headers: { etag: quoted(note.etag) } };
    },
  }),
  route({
    method: "PUT",
    path: "/items/{id}/notes/{key+}",
    area: AREA,
    summary: "Write a note",
    operation: "manage_notes",
    body: noteWriteDto,
    bodyRule: JSON_BODY,
    ifMatch: "optional",
    idempotent: true,
    success: [
      { status: 200, description: "The note as it is now", schema: noteDto },
      { status: 201, description: "The new note", schema: noteDto },
    ],
    refusals: [
      "validation_failed",
      "RESOURCE_NOT_FOUND",
      "NOTE_BODY_TOO_LARGE",
      "NOTE_BODY_TOO_LONG",
      "etag_mismatch",
      "claim_lost",
    ],
    toInput: ({ params, body, actor, requestId, header }) => {
      const { properties: _properties, workerId, ...note } = body;
      const expectedVersion = versionOf(header("if-match"));
      const element = {
        itemId: params["id"],
        key: params["key"],
        ...note,
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return {
        operation: "upsert",
        notes: [element],
        actor,
        workerId,
        requestId,
      } as RequestOf<"manage_notes">;
    },
    toResponse: async (output, { params, access }, run) => {
      const { notes, failures } = output as WriteNotesOutput;
      const written = onlyElement(notes, failures);
      const whole = await readNote(run, params["id"] ?? "", params["key"] ?? "");
      const note = toNoteDto(whole, access);
      const { warning, replayed = false } = written;
      return {
        status: written.version === 1 ? 201 : 200,
        body: { ...note, ...(warning === undefined ? {} : { warning }) },
        headers: {
          etag: quoted(note.etag),
          ...replayMark(replayed),
        },
      };
    },
    refused: (error) => (error.code === "version_conflict" ? mismatch(error.message) : error),
  }),
  route({
    method: "DELETE",
    path: "/items/{id}/notes/{key+}",
    area: AREA,
    summary: "Delete a note",
    operation: "manage_notes",
    idempotent: true,
    success: [{ status: 204, description: "It is gone" }],
    refusals: ["RESOURCE_NOT_FOUND", "claim_lost"],
    toInput: ({ params, actor, requestId }) => ({
      operation: "delete",
      itemId: params["id"],
      key: params["key"],
      actor,
      requestId,
    }),
    toResponse: (output) => {
      const { results, failures, replayed = false } = output as DeleteNotesOutput;
      const { outcome } = onlyElement(results, failures);
      if (outcome !== "deleted") throw fault("RESOURCE_NOT_FOUND", "the item has no such note");
      return { status: 204, headers: replayMark(replayed) };
    },
  }),
];
