/** What a claim answers about its item, besides its state. */
import { type Handle, statement } from "../statement.ts";

interface HeadRow {
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

const HEADS = `select id, title, summary, priority, complexity, type, tags, parent_id, root_id, depth, version from items`;

const heads = statement<HeadRow>("items_claimed_heads", `${HEADS} where id = any($1::uuid[])`);

const headsAhead = statement<HeadRow>(
  "items_claimed_heads_ahead",
  `${HEADS} where id = any($1::uuid[] || muster_picked())`,
);

export type Heads = ReadonlyMap<string, Record<string, unknown>>;

/** @param ahead together with what earlier statements of the transaction have picked */
export async function findClaimedHeads(handle: Handle, ids: readonly string[], ahead = false): Promise<Heads> {
  if (ids.length === 0 && !ahead) return new Map();
  const rows = await (ahead ? headsAhead : heads)(handle, [ids]);
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
