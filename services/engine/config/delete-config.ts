/** `delete_project_config`: from its commit on, the server's own file counts for the project's items. */
import { deleteConfig, readConfig } from "../../../db/stores/project-config-store.ts";
import { lockGraph } from "../../../db/stores/graph-lock.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type {
  DeleteProjectConfigInput,
  DeleteProjectConfigOutput,
} from "../../contract/operations/delete-project-config.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { CLAIMABLE, transact } from "../writing/transact.ts";
import { describeCall, once } from "../writing/write-call.ts";
import { refreshRoot } from "./refresh-copies.ts";
import { refuseStaleText } from "./push-config.ts";
import { requireRoot } from "./require-root.ts";

export async function deleteProjectConfig(
  deps: EngineDeps,
  input: DeleteProjectConfigInput,
  caller: Caller,
): Promise<DeleteProjectConfigOutput> {
  const call = describeCall("delete_project_config", input, caller);
  const rootId = await requireItem(deps.db, input.rootId, caller);
  const result = await transact(deps, (tx) =>
    once(call, tx, "all", async () => ({
      answer: await deleteIn(deps, tx, rootId, input.expectedFingerprint),
      targetId: rootId,
    })),
  );
  // Gates may have opened.
  deps.coordination.wakeUps.publish([CLAIMABLE]);
  return result.replayed ? { ...result.answer, replayed: true } : result.answer;
}

async function deleteIn(
  deps: EngineDeps,
  tx: Handle,
  rootId: string,
  expected: string | undefined,
): Promise<DeleteProjectConfigOutput> {
  await lockGraph(tx, [rootId], "exclusive");
  await requireRoot(tx, rootId);
  const before = await readConfig(tx, rootId);
  if (before === null)
    throw fault("RESOURCE_NOT_FOUND", `the project ${rootId} has no configuration of its own`);
  refuseStaleText(before, expected);
  await deleteConfig(tx, rootId);
  await refreshRoot(tx, deps.schemas, rootId);
  return { rootId, fingerprint: before.fingerprint };
}
