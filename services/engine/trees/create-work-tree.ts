/**
 * `create_work_tree`: everything in one transaction, in a bounded number of statements. What can
 * be wrong with refs, edges and depth the contract has found out; what is left to find out needs
 * the item above, the schemas and the plan, and whatever of it is wrong takes everything back.
 *
 * Items are added to the item above as `manage_items` adds them: its graph is shared, its row
 * locked. Rows that are just made are seen by nobody, so their locks cost nothing.
 */
import { findTitles } from "../../../db/stores/item-store.ts";
import { fault } from "../../contract/errors.ts";
import type {
  CreateWorkTreeInput,
  CreateWorkTreeOutput,
} from "../../contract/operations/create-work-tree.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { requireWholeSight } from "../access.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { isUnstorable } from "../writing/element-failure.ts";
import { afterCommit, CLAIMABLE, transact } from "../writing/transact.ts";
import { describeCall, once } from "../writing/write-call.ts";
import { plantTree } from "./plant-tree.ts";

export async function createWorkTree(
  deps: EngineDeps,
  input: CreateWorkTreeInput,
  caller: Caller,
): Promise<CreateWorkTreeOutput> {
  const call = describeCall("create_work_tree", input, caller);
  const resolve = async (ref: string | null | undefined): Promise<string | null> =>
    ref === null || ref === undefined ? null : await requireItem(deps.db, ref, caller);
  const above = await resolve(input.attachTo ?? input.parentId);
  if (above === null) requireWholeSight(caller, "making a root");
  const documentRoot = await resolve(input.docRef?.rootId);
  let world: World | null = null;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    return await once(call, tx, "all", async () => {
      const planted = await plantTree(deps, call, tx, wider, { input, above, documentRoot });
      world = planted.world;
      return { answer: planted.answer, targetId: planted.answer.root.id };
    });
  }).catch((error: unknown) => {
    if (!isUnstorable(error)) throw error;
    throw fault("VALIDATION_ERROR", "the tree holds text that cannot be stored, such as a NUL character");
  });
  if (world !== null) {
    afterCommit(deps, world);
    deps.coordination.wakeUps.publish([CLAIMABLE]);
  }
  if (!result.replayed) return result.answer;
  const { id } = result.answer.root;
  if ((await findTitles(deps.db, [id])).size > 0) return { ...result.answer, replayed: true };
  throw fault("idempotency_target_gone", `the tree that this requestId made, at ${id}, was deleted since`);
}
