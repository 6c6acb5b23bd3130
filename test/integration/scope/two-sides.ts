/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return -- a test that reads a wrong field fails by itself */
/**
 * A fence with something on both sides. Inside is a subtree in the middle of a tree; outside is
 * what stands above it and beside it, and another root with everything that an item can have.
 */
import { randomUUID } from "node:crypto";
import type { Access } from "../../../services/engine/access.ts";
import { type TestEngine, worker } from "../../support/engine.ts";
import { CALLER, type Named } from "./calls.ts";

/** Is in every title and text outside, and in nothing inside. */
export const SECRET = "word-zebra";
const BY = { actor: CALLER };

/** May do everything, and sees the subtree. */
export function seeing(top: string): { readonly access: Access } {
  return { access: { capabilities: new Set(["admin"]), scope: [top], agent: null } };
}

export interface Inside extends Named {
  /** Stands above the top; outside. */
  readonly above: string;
  readonly top: string;
}

export async function plant(muster: TestEngine, title: string, parentId?: string): Promise<string> {
  const at = parentId === undefined ? {} : { parentId };
  const made = await muster.call("manage_items", { operation: "create", ...BY, items: [{ title, ...at }] });
  return made.items[0].id;
}

export async function plantInside(muster: TestEngine): Promise<Inside> {
  const above = await plant(muster, "above");
  const top = await plant(muster, "top", above);
  // Only the first start below an item starts the item too: what follows is the same for every call.
  const begun = await plant(muster, "begun", top);
  await muster.call("advance_item", { ...BY, transitions: [{ itemId: begun, trigger: "start" }] });
  return { above, top, ...(await furnish(muster, top, "inside")) };
}

/** Two items, a note, an edge, a deleted item. */
async function furnish(muster: TestEngine, root: string, title: string): Promise<Named> {
  const item = await plant(muster, `${title} item`, root);
  const other = await plant(muster, `${title} other`, root);
  const written = await muster.call("manage_notes", {
    operation: "upsert",
    ...BY,
    notes: [{ itemId: item, key: "plan", role: "queue", body: `${title} body` }],
  });
  const drawn = await muster.call("manage_dependencies", {
    operation: "create",
    ...BY,
    type: "RELATES_TO",
    dependencies: [{ fromItemId: item, toItemId: other }],
  });
  const deleted = await plant(muster, `${title} deleted`, root);
  const gone = await muster.call("manage_items", { operation: "delete", ...BY, itemIds: [deleted] });
  return {
    item,
    other,
    root,
    deleted,
    note: written.notes[0].id,
    edge: drawn.dependencies[0].id,
    trash: gone.trash[0].trashId,
  };
}

/** Everything that lists, counts and walks could stumble over, tied to the inside where that changes nothing there. */
export async function plantOutside(muster: TestEngine, inside: Inside): Promise<Named> {
  const root = await plant(muster, `${SECRET} root`);
  const outside = await furnish(muster, root, SECRET);
  const beside = await plant(muster, `${SECRET} beside`, inside.above);
  const relate = (fromItemId: string, toItemId: string): Promise<unknown> =>
    muster.call("manage_dependencies", {
      operation: "create",
      ...BY,
      type: "RELATES_TO",
      dependencies: [{ fromItemId, toItemId }],
    });
  await relate(inside.item, outside.other);
  await relate(beside, inside.item);
  for (const itemId of [outside.item, beside]) {
    const agent = worker(`${SECRET}-agent`);
    await muster.call("claim_item", {
      actor: agent,
      workerId: randomUUID(),
      requestId: randomUUID(),
      claims: [{ itemId, start: true }],
    });
  }
  const waiting = await plant(muster, `${SECRET} waiting`, root);
  await muster.call("manage_dependencies", {
    operation: "create",
    ...BY,
    dependencies: [{ fromItemId: outside.other, toItemId: waiting }],
  });
  return outside;
}
