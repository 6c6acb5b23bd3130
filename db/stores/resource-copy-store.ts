/** The copies in `item_state` of what items take when they enter work. */
import type { Requirement } from "../../services/core/leases/lease.ts";
import { type Handle, statement } from "../statement.ts";

export interface ResourceCopy {
  readonly id: string;
  readonly resources: readonly Pick<Requirement, "key" | "mode" | "capacity">[] | null;
}

const save = statement<never>(
  "resources_save",
  `update item_state s set resources = c.resources
   from json_to_recordset($1::json) as c(id uuid, resources jsonb)
   where s.item_id = c.id and s.resources is distinct from c.resources`,
);

export async function saveResources(handle: Handle, copies: readonly ResourceCopy[]): Promise<void> {
  if (copies.length === 0) return;
  await save(handle, [JSON.stringify(copies)]);
}

/** What a schema follows from: items that are equal in it have one schema. */
export interface DeclaringKind {
  readonly rootId: string;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly traits: readonly string[];
  /** Some of them have a copy now. */
  readonly declares: boolean;
}

interface KindRow {
  root_id: string;
  type: string | null;
  tags: string[];
  traits: string[];
  declares: boolean;
}

const itemsOf = statement<KindRow & { item_id: string }>(
  "resources_items",
  `select s.item_id, s.root_id, s.type, s.tags, s.traits, s.resources is not null as declares
   from item_state s where s.item_id = any($1::uuid[])`,
);

export async function findDeclaringItems(
  handle: Handle,
  ids: readonly string[],
): Promise<(DeclaringKind & { readonly id: string })[]> {
  return (await itemsOf(handle, [ids])).map((row) => ({ ...toKind(row), id: row.item_id }));
}

const kinds = statement<KindRow>(
  "resources_kinds",
  `select s.root_id, s.type, s.tags, s.traits, bool_or(s.resources is not null) as declares
   from item_state s where $1::uuid[] is null or s.root_id = any($1)
   group by s.root_id, s.type, s.tags, s.traits`,
);

export async function findDeclaringKinds(
  handle: Handle,
  rootIds: readonly string[] | null,
): Promise<DeclaringKind[]> {
  return (await kinds(handle, [rootIds])).map(toKind);
}

function toKind({ root_id: rootId, type, tags, traits, declares }: KindRow): DeclaringKind {
  return { rootId, type, tags, traits, declares };
}

// In id order first: whoever moves these items locks them so.
const saveKinds = statement<never>(
  "resources_save_kinds",
  `with wanted as (
     select s.item_id, c.resources
     from json_to_recordset($1::json) as c(root_id uuid, type text, tags text[], traits text[], resources jsonb)
     join item_state s on s.root_id = c.root_id and s.type is not distinct from c.type and s.tags = c.tags
       and s.traits = c.traits
     where s.resources is distinct from c.resources
     order by s.item_id for no key update of s
   )
   update item_state s set resources = w.resources from wanted w where w.item_id = s.item_id`,
);

export async function saveResourcesOfKinds(
  handle: Handle,
  wanted: readonly (DeclaringKind & { readonly resources: ResourceCopy["resources"] })[],
): Promise<void> {
  if (wanted.length === 0) return;
  await saveKinds(handle, [
    JSON.stringify(
      wanted.map(({ rootId, type, tags, traits, resources }) => ({
        root_id: rootId,
        type,
        tags,
        traits,
        resources,
      })),
    ),
  ]);
}
