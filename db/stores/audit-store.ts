/**
 * Who changed what where no row of its own would tell: an edit that a later one covers, an
 * edge or an item that is gone. Written in the transaction of the change, and kept when what
 * it speaks of is not.
 */
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

export interface AuditEntry {
  readonly action:
    | "item.updated"
    | "item.deleted"
    | "item.restored"
    | "item.replayed"
    | "item.discarded"
    | "item.overridden"
    | "dependency.deleted"
    | "claim.revoked"
    | "agent.drained"
    | "agent.undrained"
    | "breaker.reset";
  /** Null for what concerns no item. */
  readonly itemId: string | null;
  readonly rootId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const insert = statement<never>(
  "audit_insert",
  `insert into audit_log (action, item_id, root_id, data, agent, session, actor, verification)
   select c.action, c.item_id, c.root_id, c.data, $2, $3, $4::jsonb, $5::jsonb
   from jsonb_to_recordset($1::jsonb) as c(action text, item_id uuid, root_id uuid, data jsonb)`,
);

export async function recordAudit(
  handle: Handle,
  entries: readonly AuditEntry[],
  author: Author,
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ action, itemId, rootId, data }) => ({
    action,
    item_id: itemId,
    root_id: rootId,
    data,
  }));
  const [agent, actor, verification] = authorValues(author);
  await insert(handle, [JSON.stringify(rows), agent, author.session, actor, verification]);
}
