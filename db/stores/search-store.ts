/** Search, and the passages that show why a text was found. */
import type { Role } from "../../services/core/roles.ts";
import { type Handle, runGenerated, statement } from "../statement.ts";
import { Parameters } from "./readiness-sql.ts";
import { type SearchKind, type SearchSql, searchSql, type SearchWay } from "./search-sql.ts";

export interface FoundRow {
  readonly kind: SearchKind;
  readonly id: string;
  readonly item_id: string;
  readonly score: number;
  readonly ranks: Readonly<Partial<Record<SearchWay, number>>>;
}

export interface Found {
  readonly rows: readonly FoundRow[];
  readonly total: number;
  /** More was found than is ranked: `total` is what is ranked. */
  readonly capped: boolean;
}

type SearchRow = { total: number; capped: boolean } & (
  | ({ kind: SearchKind; id: string; item_id: string; score: number } & Partial<
      Record<`${SearchWay}_rank`, number | null>
    >)
  | { kind: null }
);

/** One page, best first, and how many there are in all: one statement. */
export async function findTexts(handle: Handle, search: SearchSql): Promise<Found> {
  const parameters = new Parameters();
  const found = await runGenerated<SearchRow>(handle, searchSql(search, parameters), parameters.values);
  const rows = found.flatMap((row): FoundRow[] => {
    if (row.kind === null) return [];
    const ranks = search.ways.flatMap((way) => {
      const rank = row[`${way}_rank`];
      return rank === null || rank === undefined ? [] : [[way, rank] as const];
    });
    const { kind, id, item_id, score } = row;
    return [{ kind, id, item_id, score, ranks: Object.fromEntries(ranks) }];
  });
  return { rows, total: found[0]?.total ?? 0, capped: found[0]?.capped ?? false };
}

export interface PassageRow {
  readonly id: string;
  readonly title: string;
  readonly role: Role;
  readonly summary: string;
  readonly tags: string;
  /** The part of the description around the first match. */
  readonly description: string;
  readonly note_key: string | null;
  readonly note_role: "queue" | "work" | "review" | null;
  /** The part of the note around the first match. */
  readonly note_body: string;
}

/** How much of a long text comes out of the database to be shown a snippet of, before and after the match. */
const BEFORE = 120;
const PASSAGE = 400;

/** The passage of `column` around the first of the needles; folding keeps positions nearly as they are. */
function passage(column: string): string {
  return `substring(${column} from greatest(1, coalesce((
    select min(strpos(f.plain, n)) from unnest($2::text[]) n, (select muster_plain(${column}) as plain) f
    where strpos(f.plain, n) > 0), 1) - ${BEFORE}) for ${PASSAGE})`;
}

const passages = statement<PassageRow>(
  "search_passages",
  `select h.id, i.title, s.role, i.summary, array_to_string(i.tags, ' ') as tags,
     case when n.id is null then coalesce(${passage("i.description")}, '') else '' end as description,
     n.key as note_key, n.role as note_role, coalesce(${passage("n.body")}, '') as note_body
   from unnest($1::uuid[], $3::uuid[]) as h(id, item_id)
   join items i on i.id = h.item_id join item_state s on s.item_id = h.item_id left join notes n on n.id = h.id`,
);

/** What hits show of their texts, by the id of the item or note. */
export async function readPassages(
  handle: Handle,
  hits: readonly FoundRow[],
  needles: readonly string[],
): Promise<Map<string, PassageRow>> {
  if (hits.length === 0) return new Map();
  const values = [hits.map((hit) => hit.id), needles, hits.map((hit) => hit.item_id)];
  return new Map((await passages(handle, values)).map((row) => [row.id, row]));
}

const needles = statement<{ needle: string }>(
  "search_needles",
  `select distinct needle from (
     select muster_plain(token) as needle from unnest($2::text[]) token
     union all select unnest(tsvector_to_array(muster_lexemes(muster_plain($1))))
   ) n where needle <> ''`,
);

/** What to look for in a passage: the tokens as they are compared, and the stems of their words. */
export async function readNeedles(
  handle: Handle,
  query: string,
  tokens: readonly string[],
): Promise<string[]> {
  return (await needles(handle, [query, tokens])).map((row) => row.needle);
}
