/** The items that a call means when it names a tree, or lists items. */
import type { Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";

export interface TreeMemberRow {
  readonly id: string;
  readonly title: string;
  readonly role: Role;
  /** Root first, parent last. */
  readonly ancestors: readonly string[];
}

const COLUMNS = "i.id, i.title, s.role, s.ancestors";

// Open ones first, and of the others those that closed last: a call that is repeated finds what it closed.
const ORDER = "s.role = 'terminal', s.role_changed_at desc, i.id";

const below = statement<TreeMemberRow>(
  "tree_members_below",
  `select ${COLUMNS} from items i join item_state s on s.item_id = i.id
   where i.id = $1 or i.ancestors @> array[$1::uuid] order by ${ORDER} limit $2`,
);

/** The item and everything below it. */
export async function findTree(handle: Handle, id: string, limit: number): Promise<TreeMemberRow[]> {
  return await below(handle, [id, limit]);
}

const listed = statement<TreeMemberRow>(
  "tree_members_listed",
  `select ${COLUMNS} from items i join item_state s on s.item_id = i.id
   where i.id = any($1::uuid[]) order by ${ORDER}`,
);

/** Those of the items that there are. */
export async function findMembers(handle: Handle, ids: readonly string[]): Promise<TreeMemberRow[]> {
  return await listed(handle, [ids]);
}
