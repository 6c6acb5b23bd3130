/** What a claim answers about its item, besides its state. */
import { type Handle, statement } from "../statement.ts";

const heads = statement<{
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
}>(
  "items_claimed_heads",
  `select id, title, summary, priority, complexity, type, tags, parent_id, root_id, depth, version
   from items where id = any($1::uuid[])`,
);

export async function findClaimedHeads(
  handle: Handle,
  ids: readonly string[],
): Promise<Map<string, Record<string, unknown>>> {
  if (ids.length === 0) return new Map();
  const rows = await heads(handle, [ids]);
  return new Map(
    rows.map((row) => [
      row.id,
      {
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
      },
    ]),
  );
}
