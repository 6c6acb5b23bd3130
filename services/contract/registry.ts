/**
 * The registry of operations. Its order is the order of `tools/list`: fixed, since
 * clients cache the list and models pay for every change of their prompt.
 */
import type { z } from "zod";
import type { Operation, Toolset } from "./operation.ts";
import { advanceItem } from "./operations/advance-item.ts";
import { claimItem } from "./operations/claim-item.ts";
import { completeTree } from "./operations/complete-tree.ts";
import { createToken } from "./operations/create-token.ts";
import { createWorkTree } from "./operations/create-work-tree.ts";
import { drainAgent } from "./operations/drain-agent.ts";
import { deleteProjectConfig } from "./operations/delete-project-config.ts";
import { describeConfig } from "./operations/describe-config.ts";
import { explainItem } from "./operations/explain-item.ts";
import { getBlockedItems } from "./operations/get-blocked-items.ts";
import { getContext } from "./operations/get-context.ts";
import { getNextItem } from "./operations/get-next-item.ts";
import { getNextStatus } from "./operations/get-next-status.ts";
import { getReport } from "./operations/get-report.ts";
import { listAgents } from "./operations/list-agents.ts";
import { listAttempts } from "./operations/list-attempts.ts";
import { listBreakers } from "./operations/list-breakers.ts";
import { listDead } from "./operations/list-dead.ts";
import { listTrash } from "./operations/list-trash.ts";
import { listItems } from "./operations/list-items.ts";
import { listLeaseHistory } from "./operations/list-lease-history.ts";
import { listLeases } from "./operations/list-leases.ts";
import { listTokens } from "./operations/list-tokens.ts";
import { listClaims } from "./operations/list-claims.ts";
import { listTransitions } from "./operations/list-transitions.ts";
import { manageDependencies } from "./operations/manage-dependencies.ts";
import { manageItems } from "./operations/manage-items.ts";
import { releaseLeases } from "./operations/release-leases.ts";
import { resetBreaker } from "./operations/reset-breaker.ts";
import { revokeToken } from "./operations/revoke-token.ts";
import { rotateToken } from "./operations/rotate-token.ts";
import { manageNotes } from "./operations/manage-notes.ts";
import { manageReminders } from "./operations/manage-reminders.ts";
import { manageSchedules } from "./operations/manage-schedules.ts";
import { managePlanDocuments } from "./operations/manage-plan-documents.ts";
import { manageProjectConfig } from "./operations/manage-project-config.ts";
import { queryAudit } from "./operations/query-audit.ts";
import { queryDependencies } from "./operations/query-dependencies.ts";
import { queryItems } from "./operations/query-items.ts";
import { queryNotes } from "./operations/query-notes.ts";
import { queryRules } from "./operations/query-rules.ts";
import { revokeClaims } from "./operations/revoke-claims.ts";
import { discardDead, replayDead } from "./operations/settle-dead.ts";
import { deleteWebhook, pauseWebhook } from "./operations/change-webhook.ts";
import { createWebhook } from "./operations/create-webhook.ts";
import { listDeliveries } from "./operations/list-deliveries.ts";
import { listWebhooks } from "./operations/list-webhooks.ts";
import { discardDeliveries, replayDeliveries } from "./operations/settle-deliveries.ts";

const byName = {
  claim_item: claimItem,
  advance_item: advanceItem,
  get_next_item: getNextItem,
  get_next_status: getNextStatus,
  query_items: queryItems,
  explain_item: explainItem,
  get_blocked_items: getBlockedItems,
  manage_items: manageItems,
  manage_dependencies: manageDependencies,
  manage_notes: manageNotes,
  query_notes: queryNotes,
  manage_project_config: manageProjectConfig,
  query_dependencies: queryDependencies,
  get_context: getContext,
  create_work_tree: createWorkTree,
  complete_tree: completeTree,
  manage_plan_documents: managePlanDocuments,
  query_rules: queryRules,
  get_report: getReport,
  describe_config: describeConfig,
  delete_project_config: deleteProjectConfig,
  manage_reminders: manageReminders,
  manage_schedules: manageSchedules,
  list_items: listItems,
  list_transitions: listTransitions,
  list_claims: listClaims,
  list_agents: listAgents,
  list_leases: listLeases,
  list_lease_history: listLeaseHistory,
  release_leases: releaseLeases,
  create_token: createToken,
  list_tokens: listTokens,
  rotate_token: rotateToken,
  revoke_token: revokeToken,
  query_audit: queryAudit,
  revoke_claims: revokeClaims,
  drain_agent: drainAgent,
  list_attempts: listAttempts,
  list_dead: listDead,
  replay_dead: replayDead,
  discard_dead: discardDead,
  list_trash: listTrash,
  create_webhook: createWebhook,
  list_webhooks: listWebhooks,
  pause_webhook: pauseWebhook,
  delete_webhook: deleteWebhook,
  list_deliveries: listDeliveries,
  replay_deliveries: replayDeliveries,
  discard_deliveries: discardDeliveries,
  list_breakers: listBreakers,
  reset_breaker: resetBreaker,
} as const;

export type OperationName = keyof typeof byName;
/** What the engine gets for an operation: the parsed input. */
export type InputOf<N extends OperationName> = z.output<(typeof byName)[N]["input"]>;
/** What a client writes for an operation, before defaults. */
export type RequestOf<N extends OperationName> = z.input<(typeof byName)[N]["input"]>;
/** What the engine answers. */
export type OutputOf<N extends OperationName> = z.output<(typeof byName)[N]["output"]>;

// Each `render` takes its own output type, which the engine's answer has by construction.
export const OPERATIONS: readonly Operation[] = Object.freeze(
  Object.values(byName) as unknown as Operation[],
);

export const operationByName: ReadonlyMap<string, Operation> = new Map(
  OPERATIONS.map((one) => [one.name, one]),
);

/** What MCP lists for a toolset, in registry order. */
export function operationsOf(toolset: Toolset): readonly Operation[] {
  return OPERATIONS.filter((one) => one.mcp && (toolset === "all" || one.toolsets.includes(toolset)));
}
