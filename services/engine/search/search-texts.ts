/** Searching for words in items and notes: what `query_items` and `query_notes` answer with a query. */
import {
  type FoundRow,
  findTexts,
  type PassageRow,
  readNeedles,
  readPassages,
} from "../../../db/stores/search-store.ts";
import type { ItemConditions } from "../../../db/stores/item-read-store.ts";
import { RRF_K, type SearchWay } from "../../../db/stores/search-sql.ts";
import type { Handle } from "../../../db/statement.ts";
import { isSearchable, type SearchHit, type SearchHits, tokensOf } from "../../contract/searching.ts";
import type { MatchMode, SearchKind } from "../../contract/vocabulary.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import { findPassage } from "../../core/texts/snippet.ts";
import { fitPage } from "../queries/fit-page.ts";

export interface TextSearch {
  readonly query: string;
  readonly matchMode: MatchMode;
  readonly kinds: readonly SearchKind[];
  /** Of the items that the texts belong to. */
  readonly within: ItemConditions;
  readonly snippet: boolean;
  readonly explain: boolean;
  readonly limit: number;
  readonly offset: number;
}

const SNIPPET_LENGTH = 160;
const HIT_TITLE_LENGTH = 120;

/** Three statements for a page; one more when nothing has the words as they are. */
export async function searchTexts(handle: Handle, search: TextSearch): Promise<SearchHits> {
  const { query, limit, offset } = search;
  const tokens = tokensOf(query);
  const ways = waysOf(search.matchMode, tokens);
  const asked = { query, tokens, kinds: search.kinds, within: search.within, limit, offset };
  let found = await findTexts(handle, { ...asked, ways });
  // A slip of the pen is helped only where nobody chose how to match.
  if (found.total === 0 && search.matchMode === "auto")
    found = await findTexts(handle, { ...asked, ways: ["similar"] });
  const needles = found.rows.length === 0 ? [] : await readNeedles(handle, query, tokens);
  const passages = await readPassages(handle, found.rows, needles);
  // A single letter is in every word, and marks nothing.
  const marks = needles.filter((needle) => needle.length > 1);
  const hits = fitPage(
    found.rows.flatMap((row) => {
      const passage = passages.get(row.id);
      return passage === undefined ? [] : [toHit(row, passage, marks, search)];
    }),
  );
  const hasMore = offset + hits.length < found.total;
  return {
    hits,
    totalHits: found.total,
    truncated: found.capped,
    returned: hits.length,
    hasMore,
    nextOffset: hasMore ? offset + hits.length : null,
    limit,
    offset,
  };
}

function waysOf(mode: MatchMode, tokens: readonly string[]): SearchWay[] {
  if (mode === "text") return ["text"];
  if (mode === "substring") return ["trigram"];
  return tokens.some(isSearchable) ? ["trigram", "text"] : ["text"];
}

function toHit(row: FoundRow, text: PassageRow, marks: readonly string[], search: TextSearch): SearchHit {
  const best = bestField(row, text, marks);
  const { trigram, text: words, similar } = row.ranks;
  const note = row.kind === "note" ? { noteId: row.id, key: text.note_key ?? "" } : {};
  return {
    kind: row.kind,
    itemId: row.item_id,
    ...note,
    title: clipText(text.title, HIT_TITLE_LENGTH),
    role: text.note_role ?? text.role,
    field: best.field,
    ...(search.snippet ? { snippet: best.snippet } : {}),
    score: Number(row.score.toFixed(6)),
    matchedIn: [
      ...(trigram === undefined && similar === undefined ? [] : ["trigram"]),
      ...(words === undefined ? [] : ["text"]),
    ],
    ...(search.explain
      ? {
          explain: {
            ...(trigram === undefined ? {} : { trigramRank: trigram }),
            ...(words === undefined ? {} : { textRank: words }),
            ...(similar === undefined ? {} : { similarRank: similar }),
            rrfK: RRF_K,
          },
        }
      : {}),
  };
}

/** The field that has most of the words; of equals the one that says most about the hit. */
function bestField(
  row: FoundRow,
  text: PassageRow,
  marks: readonly string[],
): { readonly field: string; readonly snippet: string } {
  const fields: readonly (readonly [string, string])[] =
    row.kind === "note"
      ? [
          ["body", text.note_body],
          ["key", text.note_key ?? ""],
        ]
      : [
          ["title", text.title],
          ["summary", text.summary],
          ["description", text.description],
          ["tags", text.tags],
        ];
  const looked = fields.map(([field, value]) => ({ field, ...findPassage(value, marks, SNIPPET_LENGTH) }));
  return looked.reduce((best, one) => (one.found > best.found ? one : best));
}
