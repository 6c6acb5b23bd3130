/** What a claim answers about its item, besides its state. */
import { type Handle, statement } from "../statement.ts";

export interface HeadRow {
  id: string;
  title: string;
  summary: string;
  priority: string;
  complexity: number | null;
  type: string | null;
  tags: string[];
  parent_id: string | null;
  root_id: string;
  depth: number;
  version: number;
}

/** Of `items i`; what {@link toHead} reads. */
export const HEAD_COLUMNS = `i.id, i.title, i.summary, i.priority, i.complexity, i.type, i.tags, i.parent_id, i.root_id,
  i.depth, i.version`;

const heads = statement<HeadRow>(
  "items_claimed_heads",
  `select ${HEAD_COLUMNS} from items i where i.id = any($1::uuid[])`,
);

export type Head = Readonly<Record<string, unknown>>;

export async function findClaimedHeads(handle: Handle, ids: readonly string[]): Promise<Map<string, Head>> {
  if (ids.length === 0) return new Map();
  const rows = await heads(handle, [ids]);
  return new Map(rows.map((row) => [row.id, toHead(row)]));
}

export function toHead(row: HeadRow): Head {
  return {
    id: row.id,
    title: row.title,
    ...(row.summary === "" ? {} : { summary: row.summary }),
    priority: row.priority,
    ...(row.complexity === null ? {} : { complexity: row.complexity }),
    ...(row.type === null ? {} : { type: row.type }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags.join(",") }),
    parentId: row.parent_id,
    rootId: row.root_id,
    depth: row.depth,
    version: row.version,
  };
}
