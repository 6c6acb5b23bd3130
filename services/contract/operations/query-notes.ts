/** `query_notes`: read notes, what they said before, and what changed. Bodies come only when asked for. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { BATCH_SIZE_MAX, LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT, SEARCH_LIMIT_DEFAULT } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";
import { renderHits, searchHits, searchingShape, substringsLongEnough } from "../searching.ts";
import { noteKey, noteRole, textVersion, writer } from "../text-fields.ts";
import type { MatchMode } from "../vocabulary.ts";

const OPERATIONS = ["get", "list", "search", "history", "diff"] as const;

const scope = z.strictObject({ itemId: fields.itemRef.optional(), ancestorId: fields.itemRef.optional() });

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    noteId: fields.fullId.optional().describe("get, history, diff; or itemId and key."),
    itemId: fields.itemRef.optional(),
    key: noteKey.optional(),
    version: z.int().min(1).optional().describe("get: as it was."),
    role: noteRole.optional().describe("list."),
    keys: z.array(noteKey).min(1).max(BATCH_SIZE_MAX).optional().describe("list."),
    includeBody: fields.flag.optional().describe("list; else bodyLength."),
    ...searchingShape,
    scope: scope.optional().describe("search: notes of an item, or of a subtree."),
    from: z.int().min(1).optional().describe("diff: version; default the one before to."),
    to: z.int().min(1).optional().describe("diff: version; default the present one."),
    before: z.int().min(1).optional().describe("history: older than this version."),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).optional().describe("Default 50; search, history 20."),
    offset: z.int().min(0).optional().describe("list, search; get: where in the body."),
  })
  .superRefine(...crossField(rules));

type Shape = z.output<typeof shape>;
type Field = keyof Shape;

const NOTE: readonly Field[] = ["noteId", "itemId", "key"];
/** An argument that an operation would ignore is refused: nobody finds out otherwise that it had no effect. */
const FIELDS_OF: Readonly<Record<Shape["operation"], readonly Field[]>> = {
  get: [...NOTE, "version", "offset"],
  list: ["itemId", "role", "keys", "includeBody", "limit", "offset"],
  search: ["query", "matchMode", "snippet", "explain", "scope", "limit", "offset"],
  history: [...NOTE, "before", "limit"],
  diff: [...NOTE, "from", "to"],
};

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  const operation = OPERATIONS.find((one) => one === call.operation);
  if (operation === undefined) return; // The field's own message says so.
  for (const [name, value] of Object.entries(call)) {
    if (name === "operation" || value === undefined || value === false) continue;
    if (FIELDS_OF[operation].includes(name as Field)) continue;
    const places = Object.entries(FIELDS_OF).filter(([, known]) => known.includes(name as Field));
    if (places.length > 0)
      add([name], `does not go with ${operation}, but with ${places.map(([other]) => other).join(", ")}`);
  }
  if (operation === "list") {
    if (call.itemId === undefined) add(["itemId"], "is needed: whose notes to list");
    return;
  }
  if (operation === "search") {
    if (call.query === undefined) add(["query"], "is needed: the words to search for");
    substringsLongEnough(call, add);
    return;
  }
  const byId = call.noteId !== undefined;
  if (byId && (call.itemId !== undefined || call.key !== undefined))
    add(["noteId"], "cannot be combined with itemId and key; send one or the other");
  if (!byId && (call.itemId === undefined || call.key === undefined))
    add(["noteId"], "is needed: which note; or itemId and key");
}

/** A note by its id, or by its place. */
export type NoteRef =
  | { readonly noteId: string }
  | { readonly noteId: null; readonly itemId: string; readonly key: string };

export type GetNote = {
  readonly operation: "get";
  readonly note: NoteRef;
  readonly version: number | null;
  readonly offset: number;
};
export type ListNotes = {
  readonly operation: "list";
  readonly itemId: string;
  readonly role: Shape["role"];
  readonly keys: Shape["keys"];
  readonly includeBody: boolean;
  readonly limit: number;
  readonly offset: number;
};
export type NoteHistory = {
  readonly operation: "history";
  readonly note: NoteRef;
  readonly before: number | null;
  readonly limit: number;
};
export type NoteDiff = {
  readonly operation: "diff";
  readonly note: NoteRef;
  readonly from: number | null;
  readonly to: number | null;
};
export type SearchNotes = {
  readonly operation: "search";
  readonly query: string;
  readonly matchMode: MatchMode;
  readonly snippet: boolean;
  readonly explain: boolean;
  readonly itemId: string | undefined;
  readonly ancestorId: string | undefined;
  readonly limit: number;
  readonly offset: number;
};
/** A parsed call. */
export type QueryNotesInput = GetNote | ListNotes | SearchNotes | NoteHistory | NoteDiff;
export type QueryNotesRequest = z.input<typeof shape>;

const HISTORY_LIMIT_DEFAULT = 20;

const input = shape.transform((call): QueryNotesInput => {
  const { operation, itemId = "", key = "", noteId, limit, offset = 0 } = call; // Never empty where it counts: see the rules.
  const note: NoteRef = noteId === undefined ? { noteId: null, itemId, key } : { noteId };
  switch (operation) {
    case "get":
      return { operation, note, version: call.version ?? null, offset };
    case "list": {
      const { role, keys, includeBody = false } = call;
      return { operation, itemId, role, keys, includeBody, limit: limit ?? LIST_LIMIT_DEFAULT, offset };
    }
    case "search": {
      const { query = "", matchMode = "auto", snippet = true, explain = false, scope: within } = call;
      const page = { limit: limit ?? SEARCH_LIMIT_DEFAULT, offset };
      return {
        operation,
        query,
        matchMode,
        snippet,
        explain,
        itemId: within?.itemId,
        ancestorId: within?.ancestorId,
        ...page,
      };
    }
    case "history":
      return { operation, note, before: call.before ?? null, limit: limit ?? HISTORY_LIMIT_DEFAULT };
    case "diff":
      return { operation, note, from: call.from ?? null, to: call.to ?? null };
  }
});

const noteShape = {
  id,
  key: z.string(),
  role: noteRole,
  version: z.int(),
  bodyLength: z.int().optional(),
  body: z.string().optional(),
  createdAt: at.optional(),
  modifiedAt: at,
  actor: writer.optional(),
  verification: z.record(z.string(), z.unknown()).optional(),
};

const wholeNote = answer({
  ...noteShape,
  itemId: id,
  bodyLength: z.int(),
  body: z.string(),
  /** The body goes on there: pass it as offset. */
  nextOffset: z.int().optional(),
});
export type WholeNote = z.output<typeof wholeNote>;

const listedNote = answer(noteShape);
export type ListedNote = z.output<typeof listedNote>;

const list = answer({
  notes: z.array(listedNote),
  total: z.int(),
  returned: z.int(),
  ...offsetPage,
});
export type ListNotesOutput = z.output<typeof list>;

const history = answer({
  itemId: id,
  key: z.string(),
  versions: z.array(textVersion),
  hasMore: z.boolean(),
});
export type NoteHistoryOutput = z.output<typeof history>;

const diff = answer({
  itemId: id,
  key: z.string(),
  from: z.int(),
  to: z.int(),
  diff: z.string(),
  linesAdded: z.int(),
  linesRemoved: z.int(),
  truncated: z.boolean(),
});
export type NoteDiffOutput = z.output<typeof diff>;

const output = z.union([wholeNote, list, searchHits, history, diff]);
export type QueryNotesOutput = z.output<typeof output>;

const BODY_SHOWN_MAX = 4_000;

function render(result: QueryNotesOutput): string {
  if ("hits" in result) return renderHits(result);
  if ("notes" in result) {
    const { notes, total, returned, hasMore, offset } = result;
    return bounded([
      `${returned} of ${total} notes${hasMore ? `; next page: offset ${offset + returned}` : ""}`,
      ...notes.map((note) => {
        const { version, bodyLength, body } = note;
        const head = `${note.id} ${note.key} [${note.role}] ${facts({ version, bodyLength })}`;
        return body === undefined ? head : `${head}\n${body.slice(0, 400)}`;
      }),
    ]);
  }
  if ("versions" in result) {
    return bounded([
      `${result.versions.length} versions of "${result.key}"${result.hasMore ? "; there are older ones: pass before" : ""}`,
      ...result.versions.map((one) => {
        const { version, at: written, bodyLength } = one;
        return facts({ version, at: written, bodyLength, by: one.actor?.id });
      }),
    ]);
  }
  if ("diff" in result) {
    const { from, to, linesAdded, linesRemoved, truncated } = result;
    return `${facts({ from, to, linesAdded, linesRemoved, truncated })}\n${result.diff.slice(0, BODY_SHOWN_MAX)}`;
  }
  const { itemId, key, role, version, bodyLength, nextOffset } = result;
  const head = `${result.id} ${facts({ itemId, key, role, version, bodyLength, nextOffset })}`;
  return `${head}\n${result.body.slice(0, BODY_SHOWN_MAX)}`;
}

export const queryNotes = defineOperation({
  name: "query_notes",
  description:
    "Read notes: get one with its body (any version), list an item's notes (bodies only with includeBody), " +
    "search bodies, history (versions and authors), diff between versions.",
  input,
  output,
  annotations: readsOnly("Query notes"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
