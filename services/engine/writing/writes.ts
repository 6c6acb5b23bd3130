/** Every write of the engine by the name of its operation, but claims and transitions, which share lanes. */
import type { InputOf, OperationName, OutputOf } from "../../contract/registry.ts";
import { deleteProjectConfig } from "../config/delete-config.ts";
import { manageProjectConfig } from "../config/manage-project-config.ts";
import { manageDependencies } from "../dependencies/manage-dependencies.ts";
import { managePlanDocuments } from "../documents/manage-plan-documents.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { manageItems } from "../items/manage-items.ts";
import { releaseLeases } from "../leases/release-leases.ts";
import { manageNotes } from "../notes/manage-notes.ts";
import { createToken, revokeToken, rotateToken } from "../tokens/manage-tokens.ts";
import { manageSchedules } from "../schedules/manage-schedules.ts";
import { manageReminders } from "../reminders/manage-reminders.ts";
import { resetBreaker } from "../operating/breakers.ts";
import { drainAgent } from "../operating/drain-agent.ts";
import { revokeClaims } from "../operating/revoke-claims.ts";
import { discardDead, replayDead } from "../operating/settle-dead.ts";
import { createWorkTree } from "../trees/create-work-tree.ts";
import {
  createWebhook,
  deleteWebhook,
  discardDeliveries,
  pauseWebhook,
  replayDeliveries,
} from "../webhooks/manage-webhooks.ts";

type Write = (input: unknown, caller: Caller) => Promise<Record<string, unknown>>;

export function writesOf(deps: EngineDeps): Readonly<Record<string, Write>> {
  // The contract has parsed the input of exactly this operation.
  const write =
    <N extends OperationName>(
      use: (deps: EngineDeps, input: InputOf<N>, caller: Caller) => Promise<OutputOf<N>>,
    ): Write =>
    (input, caller) =>
      use(deps, input as InputOf<N>, caller);
  return {
    manage_items: write<"manage_items">(manageItems),
    manage_dependencies: write<"manage_dependencies">(manageDependencies),
    manage_notes: write<"manage_notes">(manageNotes),
    delete_project_config: write<"delete_project_config">(deleteProjectConfig),
    manage_project_config: write<"manage_project_config">(manageProjectConfig),
    create_work_tree: write<"create_work_tree">(createWorkTree),
    release_leases: write<"release_leases">(releaseLeases),
    create_token: write<"create_token">(createToken),
    rotate_token: write<"rotate_token">(rotateToken),
    revoke_token: write<"revoke_token">(revokeToken),
    revoke_claims: write<"revoke_claims">(revokeClaims),
    drain_agent: write<"drain_agent">(drainAgent),
    replay_dead: write<"replay_dead">(replayDead),
    discard_dead: write<"discard_dead">(discardDead),
    manage_reminders: write<"manage_reminders">(manageReminders),
    manage_schedules: write<"manage_schedules">(manageSchedules),
    create_webhook: write<"create_webhook">(createWebhook),
    pause_webhook: write<"pause_webhook">(pauseWebhook),
    delete_webhook: write<"delete_webhook">(deleteWebhook),
    replay_deliveries: write<"replay_deliveries">(replayDeliveries),
    discard_deliveries: write<"discard_deliveries">(discardDeliveries),
    reset_breaker: write<"reset_breaker">(resetBreaker),
    manage_plan_documents: write<"manage_plan_documents">(managePlanDocuments),
  };
}
