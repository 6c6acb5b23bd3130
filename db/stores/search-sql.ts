/**
 * The statement that searches. Each way of looking finds its candidates and ranks them for itself; the ranks
 * are then fused by their reciprocals, so that nobody has to compare a similarity with a frequency of words.
 *
 *   trigram   every token is somewhere in the text, as it was typed
 *   text      every word is in the text, in one of its forms
 *   similar   the title is nearly what was typed: for slips, when nothing else was found
 *
 * Filters are part of finding, never applied to what was found: a narrow scope is searched to its end.
 * A way that finds more than its cap keeps what changed last, whatever the plan, so that pages never overlap.
 */
import { type ItemConditions, stateConditions } from "./item-read-store.ts";
import type { Parameters } from "./readiness-sql.ts";

/** Candidates of one way. Ranking all of a hundred thousand matches would take seconds, and nobody pages so far. */
export const CANDIDATES_MAX = 2_000;
/** As in the paper that named it: far enough from 0 that the first place does not outweigh all others. */
export const RRF_K = 60;

export type SearchWay = "trigram" | "text" | "similar";
export type SearchKind = "item" | "note";

export interface SearchSql {
  readonly ways: readonly SearchWay[];
  /** As it was typed. */
  readonly query: string;
  /** The same, taken apart. */
  readonly tokens: readonly string[];
  readonly kinds: readonly SearchKind[];
  /** Of the items that the texts belong to. */
  readonly within: ItemConditions;
  readonly limit: number;
  readonly offset: number;
}

/** Equal shapes of queries make equal text, so that the statement stays prepared. */
export function searchSql(search: SearchSql, parameters: Parameters): string {
  const query = parameters.add(search.query, "::text");
  const kinds = search.kinds.length === 2 ? "" : ` and t.kind = ${parameters.add(search.kinds[0], "::text")}`;
  const where = `${stateConditions(search.within, parameters)}${kinds}`;
  const patterns = search.ways.includes("trigram")
    ? search.tokens.map((token) => `(select muster_plain(${parameters.add(patternOf(token), "::text")}))`)
    : [];
  const ways = search.ways.map((way) => found(way, where, patterns));
  return `with asked as materialized (
      select q.plain, muster_query(q.plain) as words from (select muster_plain(${query}) as plain) q
    ), ${ways.join(", ")}, fused as materialized (
      select kind, id, item_id, sum(1.0 / (${RRF_K} + place))::float8 as score,
        ${search.ways.map((way) => `min(place) filter (where way = '${way}') as ${way}_rank`).join(", ")}
      from (${search.ways.map((way) => `select '${way}' as way, * from ${way}_ranked`).join(" union all ")}) w
      group by kind, id, item_id
    )
    select totals.total, totals.capped, p.* from (select (select count(*) from fused)::int as total,
        ${search.ways.map((way) => `(select count(*) > ${CANDIDATES_MAX} from ${way}_found)`).join(" or ")} as capped
      ) totals left join (
        select * from fused order by score desc, kind, id
        limit ${parameters.add(search.limit, "::int")} offset ${parameters.add(search.offset, "::int")}
      ) p on true order by p.score desc, p.kind, p.id`;
}

/** Two tables: what one way finds, and the place that it gives each. */
function found(way: SearchWay, where: string, patterns: readonly string[]): string {
  const { matches, order } = WAYS[way](patterns);
  return `${way}_found as materialized (
      select t.kind, t.id, t.item_id, t.changed_at from search_texts t join item_state s on s.item_id = t.item_id
      where ${matches} and ${where}
      order by t.changed_at desc, t.id limit ${CANDIDATES_MAX + 1}
    ), ${way}_ranked as (
      select t.kind, t.id, t.item_id, row_number() over (order by ${order}, t.changed_at desc, t.id)::int as place
      from (select * from ${way}_found order by changed_at desc, id limit ${CANDIDATES_MAX}) f
      join search_texts t on t.id = f.id and t.kind = f.kind
    )`;
}

// Subselects: what they answer is worked out once, and the indexes are asked for it.
const PLAIN = "(select plain from asked)";
const WORDS = "(select words from asked)";

const WAYS: Readonly<
  Record<SearchWay, (patterns: readonly string[]) => { readonly matches: string; readonly order: string }>
> = {
  trigram: (patterns) => ({
    matches: patterns.map((pattern) => `t.body like ${pattern}`).join(" and "),
    order: `${patterns.map((pattern) => `(t.head like ${pattern})::int`).join(" + ")} desc, similarity(t.head, ${PLAIN}) desc`,
  }),
  // 1: a long text is not more about a word for having it more often.
  text: () => ({ matches: `t.lexemes @@ ${WORDS}`, order: `ts_rank(t.lexemes, ${WORDS}, 1) desc` }),
  similar: () => ({ matches: `${PLAIN} <% t.head`, order: `word_similarity(${PLAIN}, t.head) desc` }),
};

/** A token as a pattern that means itself, wherever it is. */
function patternOf(token: string): string {
  return `%${token.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
