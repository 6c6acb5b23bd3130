/** What a new schedule is to do: read as strictly as the call that it stands for, by the rights of who makes it. */
import { fault } from "../../contract/errors.ts";
import type { Capability } from "../../contract/operation.ts";
import {
  advanceTemplate,
  type ManageSchedulesInput,
  remindTemplate,
  type SCHEDULE_ACTIONS,
} from "../../contract/operations/manage-schedules.ts";
import { requireAll } from "../access.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { readTree } from "./perform.ts";

type Action = (typeof SCHEDULE_ACTIONS)[number];

const NEEDED: Readonly<Record<Action, readonly Capability[]>> = {
  create: ["write-items", "write-notes", "manage-dependencies"],
  advance: ["advance"],
  remind: ["write-notes"],
};

/** A run is not asked for its rights, so whoever makes it needs those of what it does. */
export function requireForAction({ access }: Caller, action: Action): void {
  requireAll(access, NEEDED[action], `a schedule with action ${action}`);
}

export interface Resolved {
  /** What it concerns: the item above what it makes, or the one that it moves or reminds of. */
  readonly itemId: string | null;
  readonly template: Record<string, unknown>;
}

export async function resolveTemplate(
  deps: EngineDeps,
  input: ManageSchedulesInput,
  caller: Caller,
): Promise<Resolved> {
  const { action = "create", template = {} } = input;
  requireForAction(caller, action);
  if (action === "create") return await resolveTree(deps, input, template, caller);
  const itemId = await requireItem(deps.db, input.itemId ?? "", caller);
  check(action === "advance" ? advanceTemplate : remindTemplate, template);
  return { itemId, template };
}

function check(
  schema: typeof advanceTemplate | typeof remindTemplate,
  template: Readonly<Record<string, unknown>>,
): void {
  const { error } = schema.safeParse(template);
  if (error === undefined) return;
  const faults = error.issues.map((issue) => `${issue.path.join(".") || "template"}: ${issue.message}`);
  throw fault("invalid_schedule", `the template cannot be used: ${faults.join("; ")}`, {
    hint: "Send what the description of template names for this action, and nothing else.",
  });
}

async function resolveTree(
  deps: EngineDeps,
  { overlap = "allow" }: ManageSchedulesInput,
  template: Readonly<Record<string, unknown>>,
  caller: Caller,
): Promise<Resolved> {
  for (const key of ["actor", "requestId", "workerId"])
    if (template[key] !== undefined)
      throw fault("invalid_schedule", `the template has ${key}: every run is a call of its own`, {
        hint: `Leave ${key} out of the template.`,
      });
  const tree = readTree(template);
  if (tree.attachTo !== null && overlap !== "allow")
    throw fault("invalid_schedule", "what is attached to an item has no end of its own to wait for", {
      hint: "Use parentId instead of attachTo, or overlap allow.",
    });
  const above = tree.attachTo ?? tree.parentId ?? null;
  if (above === null && caller.access.scope !== null)
    throw fault("insufficient_capability", "this credential sees a part only, and makes nothing beside it", {
      hint: "Give the template a parentId within your scope.",
    });
  const itemId = above === null ? null : await requireItem(deps.db, above, caller);
  const rootId = tree.docRef?.rootId;
  const named = {
    ...(itemId === null ? {} : tree.attachTo === null ? { parentId: itemId } : { attachTo: itemId }),
    ...(rootId === undefined || rootId === null
      ? {}
      : { docRef: { ...tree.docRef, rootId: await requireItem(deps.db, rootId, caller) } }),
  };
  return { itemId, template: { ...template, ...named } };
}
