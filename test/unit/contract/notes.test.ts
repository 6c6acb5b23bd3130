import { describe, expect, it } from "vitest";
import { isMusterError } from "../../../services/contract/errors.ts";
import { manageNotes } from "../../../services/contract/operations/manage-notes.ts";
import { queryNotes } from "../../../services/contract/operations/query-notes.ts";
import { parseInput } from "../../../services/contract/parse.ts";

const ITEM = "0f8fad5b-d9cb-469f-a165-70867728950e";
const NOTE = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const place = { itemId: ITEM, key: "plan" };

function faultOf(parse: () => unknown): string {
  try {
    parse();
  } catch (thrown) {
    if (isMusterError(thrown)) return thrown.message;
    throw thrown;
  }
  throw new Error("it was accepted");
}
const manage = (input: object) => parseInput(manageNotes, input);
const query = (input: object) => parseInput(queryNotes, input);

describe("manage_notes", () => {
  it("takes a body, null and nothing as a text [B72]", () => {
    const notes = [
      { ...place, role: "queue", body: "x" },
      { ...place, role: "queue", body: null },
      { ...place, role: "queue" },
    ];
    const parsed = manage({ operation: "upsert", notes });
    expect(parsed).toMatchObject({ notes: [{ body: "x" }, { body: "" }, { body: "" }] });
  });

  it("leaves the body to the file where one is named", () => {
    const notes = [{ ...place, role: "queue", bodyFromFile: "a.txt" }];
    expect(manage({ operation: "upsert", notes })).toMatchObject({
      notes: [{ body: null, bodyFromFile: "a.txt" }],
    });
  });

  it.each([
    [{ operation: "upsert", notes: [place] }, "notes[0].role: is needed for upsert"],
    [{ operation: "upsert", notes: [{ ...place, role: "blocked" }] }, "queue, work, review"],
    [{ operation: "patch", notes: [place] }, "notes[0].edits: is needed for patch"],
    [{ operation: "undo", notes: [place] }, "notes[0].version: is needed for undo"],
    [{ operation: "upsert", itemId: ITEM }, "itemId: belongs to delete"],
    [{ operation: "delete" }, "ids: is needed"],
    [{ operation: "delete", ids: [NOTE], itemId: ITEM }, "cannot be combined with itemId"],
    [{ operation: "delete", key: "plan" }, "itemId: is needed: whose note it is"],
    [{ operation: "delete", ids: [NOTE.slice(0, 8)] }, "not a full UUID"],
    [{ operation: "upsert", notes: [{ ...place, role: "queue", text: "x" }] }, 'unknown key "text"'],
  ])("refuses %j, naming the place [B75]", (input, message) => {
    expect(faultOf(() => manage(input))).toContain(message);
  });
});

describe("query_notes", () => {
  it("knows a note by its id, or by item and key", () => {
    expect(query({ operation: "get", noteId: NOTE })).toMatchObject({ note: { noteId: NOTE } });
    expect(query({ operation: "diff", ...place })).toMatchObject({ note: place, from: null, to: null });
  });

  it.each([
    [{ operation: "get" }, "noteId: is needed"],
    [{ operation: "get", noteId: NOTE, ...place }, "cannot be combined with itemId"],
    [{ operation: "list" }, "itemId: is needed"],
    [{ operation: "list", itemId: ITEM, from: 1 }, "does not go with list, but with diff"],
    [{ operation: "search" }, "query: is needed"],
    [{ operation: "search", query: "x", scope: { role: "work" } }, 'unknown key "role"'],
    [{ operation: "search", query: "xyz", limit: 101 }, "limit"],
  ])("refuses %j, naming the place", (input, message) => {
    expect(faultOf(() => query(input))).toContain(message);
  });
});

describe("what models read of notes", () => {
  it("is enough to go on: what was written, what failed, what is next, and no body", () => {
    const text = manageNotes.render({
      notes: [
        {
          id: NOTE,
          itemId: ITEM,
          key: "plan",
          role: "queue",
          version: 2,
          createdAt: "t",
          modifiedAt: "t",
          bodyLength: 4,
        },
      ],
      upserted: 1,
      failed: 1,
      failures: [
        {
          index: 1,
          error: "why",
          errorCode: "validation_failed",
          errorKind: "permanent",
          code: "validation_failed",
        },
      ],
      itemContext: {
        [ITEM]: { guidancePointer: "Say why.", noteProgress: { filled: 1, remaining: 1, total: 2 } },
      },
    });
    expect(text).toContain("upserted=1 failed=1");
    expect(text).toContain(`${NOTE} itemId=${ITEM} key=plan role=queue version=2`);
    expect(text).toContain("FAILED #1: validation_failed: why");
    expect(text).toContain("1 of 2 required notes filled. Next: Say why.");
  });

  it("clips a body, whose whole is in the structured answer", () => {
    const text = queryNotes.render({
      id: NOTE,
      itemId: ITEM,
      key: "log",
      role: "work",
      version: 1,
      body: "x".repeat(10_000),
      bodyLength: 10_000,
      modifiedAt: "t",
    });
    expect(text.length).toBeLessThan(5_000);
  });
});
