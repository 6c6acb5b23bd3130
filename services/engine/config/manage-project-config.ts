/**
 * `manage_project_config`: the text that a project configures itself with. A push is judged as
 * a whole and takes the place of what was there for all processes at its commit; nothing is
 * stored of a text that has a fault.
 */
import type {
  GetConfig,
  GetConfigOutput,
  ManageProjectConfigInput,
  ManageProjectConfigOutput,
} from "../../contract/operations/manage-project-config.ts";
import { readConfig } from "../../../db/stores/project-config-store.ts";
import { fault } from "../../contract/errors.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { endOfPart } from "../queries/end-of-part.ts";
import { requireItem } from "../resolve-items.ts";
import { pushConfig } from "./push-config.ts";
import { requireRoot } from "./require-root.ts";
import type { Looker } from "../access.ts";

export async function manageProjectConfig(
  deps: EngineDeps,
  input: ManageProjectConfigInput,
  caller: Caller,
): Promise<ManageProjectConfigOutput> {
  return input.operation === "push"
    ? await pushConfig(deps, input, caller)
    : await getConfig(deps, input, caller);
}

async function getConfig(deps: EngineDeps, input: GetConfig, caller: Looker): Promise<GetConfigOutput> {
  const rootId = await requireItem(deps.db, input.rootId, caller);
  await requireRoot(deps.db, rootId);
  const config = await readConfig(deps.db, rootId);
  if (config === null) {
    throw fault("RESOURCE_NOT_FOUND", `the project ${rootId} has no configuration of its own`, {
      hint: "Push one with operation push; until then the server's own file counts.",
    });
  }
  const { text, fingerprint, history, updatedAt } = config;
  const end = endOfPart(text, input.offset);
  return {
    rootId,
    configYaml: text.slice(input.offset, end),
    fingerprint,
    updatedAt: updatedAt.toISOString(),
    ...(input.fingerprint === undefined
      ? {}
      : { relation: relationOf(input.fingerprint.toLowerCase(), fingerprint, history) }),
    ...(end < text.length ? { nextOffset: end } : {}),
  };
}

function relationOf(
  asked: string,
  current: string,
  history: readonly string[],
): "current" | "superseded" | "unknown" {
  if (asked === current) return "current";
  return history.includes(asked) ? "superseded" : "unknown";
}
