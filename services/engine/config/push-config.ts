/**
 * Storing a project's text. Pushes to one project queue up behind its graph lock, which also
 * keeps it from being moved or deleted meanwhile; whoever moves items does not take that lock
 * and goes on by the text that was there when their transaction looked.
 */
import { readConfig, type StoredConfig, writeConfig } from "../../../db/stores/project-config-store.ts";
import { lockGraph } from "../../../db/stores/graph-lock.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Parsed, ProjectConfig } from "../../contract/config/parse-config.ts";
import { fault } from "../../contract/errors.ts";
import { isFullId } from "../../contract/fields.ts";
import { CONFIG_SIZE_MAX_BYTES } from "../../contract/limits.ts";
import type { PushConfig, PushConfigOutput } from "../../contract/operations/manage-project-config.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { CLAIMABLE, transact } from "../writing/transact.ts";
import { describeCall, once, type WriteCall } from "../writing/write-call.ts";
import { fingerprintOf, readProjectConfig } from "./read-config.ts";
import { refreshRoot } from "./refresh-copies.ts";
import { requireRoot } from "./require-root.ts";

/**
 * Whoever says which text it knew changes no other.
 * @throws MusterError `version_conflict`
 */
export function refuseStaleText(before: StoredConfig | null, expected: string | undefined): void {
  if (expected === undefined || before?.fingerprint === expected.toLowerCase()) return;
  throw fault("version_conflict", "the configuration is not the text that the caller knew", {
    details: { current: before?.fingerprint ?? null },
    hint: "Read the current text with operation get, and change that.",
  });
}

export async function pushConfig(
  deps: EngineDeps,
  input: PushConfig,
  caller: Caller,
): Promise<PushConfigOutput> {
  const size = Buffer.byteLength(input.configYaml);
  if (size > CONFIG_SIZE_MAX_BYTES) {
    throw fault(
      "VALIDATION_ERROR",
      `configYaml: has ${size} bytes; at most ${CONFIG_SIZE_MAX_BYTES} are stored`,
      { hint: "Shorten descriptions and guidance, or move them into rules and skills." },
    );
  }
  const call = describeCall("manage_project_config", input, caller);
  const rootId = await requireItem(deps.db, input.rootId, caller);
  const parsed = readProjectConfig(input.configYaml);
  const result = await transact(deps, (tx) =>
    once(call, tx, "all", async () => ({
      answer: await pushIn(deps, tx, call, { ...input, rootId }, parsed),
      targetId: rootId,
    })),
  );
  // Gates may have opened.
  deps.coordination.wakeUps.publish([CLAIMABLE]);
  return result.replayed ? { ...result.answer, replayed: true } : result.answer;
}

async function pushIn(
  deps: EngineDeps,
  tx: Handle,
  call: WriteCall,
  { rootId, configYaml, force, expectedFingerprint }: PushConfig,
  parsed: Parsed<ProjectConfig>,
): Promise<PushConfigOutput> {
  await lockGraph(tx, [rootId], "exclusive");
  const type = await requireRoot(tx, rootId);
  if (!parsed.ok) {
    throw fault("VALIDATION_ERROR", `configYaml: ${parsed.faults.join("; ")}`, {
      details: { faults: parsed.faults },
      hint: "Correct the places that the message names and push the whole text again; nothing was stored.",
    });
  }
  const { config } = parsed;
  if (!force) refuseForeign(config, rootId);
  const fingerprint = fingerprintOf(configYaml);
  const before = await readConfig(tx, rootId);
  refuseStaleText(before, expectedFingerprint);
  if (!force) refuseOlder(before, fingerprint);
  const changed = before?.fingerprint !== fingerprint;
  const updatedAt = changed
    ? await writeConfig(tx, { rootId, fingerprint, text: configYaml }, call.author)
    : before.updatedAt;
  if (changed) await refreshRoot(tx, deps.schemas, rootId);
  return {
    rootId,
    fingerprint,
    updatedAt: updatedAt.toISOString(),
    changed,
    ...(type === "project" ? {} : { warning: `the root is of type ${type ?? "none"}, not project` }),
    ...(config.ignoredSections.length === 0 ? {} : { ignoredSections: [...config.ignoredSections] }),
    ...(config.warnings.length === 0 ? {} : { schemaWarnings: [...config.warnings] }),
  };
}

/** A text that was written for another project. */
function refuseForeign({ rootId: embedded }: ProjectConfig, rootId: string): void {
  const named = embedded?.trim().toLowerCase() ?? "";
  if (!isFullId(named) || named === rootId) return;
  throw fault("VALIDATION_ERROR", `configYaml: project.rootId is ${embedded}, and rootId is ${rootId}`, {
    details: { embeddedRootId: named, rootId },
    hint: "Push it to the root that it names, or correct project.rootId; force: true pushes it all the same.",
  });
}

/** A text that this project had before: storing it would silently take back what came after. */
function refuseOlder(before: StoredConfig | null, fingerprint: string): void {
  if (before === null || before.fingerprint === fingerprint || !before.history.includes(fingerprint)) return;
  throw fault("CONFLICT_ERROR", "this text was superseded by a later one", {
    details: { relation: "superseded", current: before.fingerprint },
    hint: "Read the current text with operation get and change that; force: true goes back to this one.",
  });
}
