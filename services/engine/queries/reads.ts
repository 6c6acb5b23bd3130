/** Every read of the engine by the name of its operation. */
import type { InputOf, OperationName, OutputOf } from "../../contract/registry.ts";
import { queryRules } from "../documents/query-rules.ts";
import { describeConfig } from "../config/describe-config.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { listBreakers } from "../operating/breakers.ts";
import { listLeaseHistory, listLeases } from "../leases/list-leases.ts";
import { queryAudit } from "../audit/query-audit.ts";
import { listTokens } from "../tokens/manage-tokens.ts";
import { explainItem } from "./explain-item.ts";
import { getBlockedItems } from "./get-blocked-items.ts";
import { getNextItem } from "./get-next-item.ts";
import { getNextStatus } from "./get-next-status.ts";
import { getReport } from "./get-report.ts";
import { listAgents } from "./list-agents.ts";
import { listAttempts } from "./list-attempts.ts";
import { listClaims } from "./list-claims.ts";
import { listDead } from "./list-dead.ts";
import { listTrash } from "./list-trash.ts";
import { listItems } from "./list-items.ts";
import { listTransitions } from "./list-transitions.ts";
import { queryDependencies } from "./query-dependencies.ts";
import { queryItems } from "./query-items.ts";
import { queryNotes } from "./query-notes.ts";
import { listDeliveries, listWebhooks } from "../webhooks/manage-webhooks.ts";

type Read = (input: unknown, caller: Caller) => Promise<Record<string, unknown>>;

export function readsOf(deps: EngineDeps): Readonly<Record<string, Read>> {
  // The contract has parsed the input of exactly this operation.
  const read =
    <N extends OperationName>(
      use: (deps: EngineDeps, input: InputOf<N>, caller: Caller) => Promise<OutputOf<N>>,
    ): Read =>
    (input, caller) =>
      use(deps, input as InputOf<N>, caller);
  return {
    query_items: read<"query_items">(queryItems),
    query_notes: read<"query_notes">(queryNotes),
    query_dependencies: read<"query_dependencies">(queryDependencies),
    query_rules: read<"query_rules">(queryRules),
    get_next_item: read<"get_next_item">(getNextItem),
    get_next_status: read<"get_next_status">(getNextStatus),
    get_blocked_items: read<"get_blocked_items">(getBlockedItems),
    get_report: read<"get_report">(getReport),
    explain_item: read<"explain_item">(explainItem),
    describe_config: read<"describe_config">(describeConfig),
    list_items: read<"list_items">(listItems),
    list_transitions: read<"list_transitions">(listTransitions),
    list_claims: read<"list_claims">(listClaims),
    list_agents: read<"list_agents">(listAgents),
    list_attempts: read<"list_attempts">(listAttempts),
    list_dead: read<"list_dead">(listDead),
    list_breakers: read<"list_breakers">(listBreakers),
    list_trash: read<"list_trash">(listTrash),
    list_leases: read<"list_leases">(listLeases),
    query_audit: read<"query_audit">(queryAudit),
    list_tokens: read<"list_tokens">(listTokens),
    list_lease_history: read<"list_lease_history">(listLeaseHistory),
    list_webhooks: read<"list_webhooks">(listWebhooks),
    list_deliveries: read<"list_deliveries">(listDeliveries),
  };
}
