/** Typed questions to a test engine, so that tests read answers and not `any`. */
import { randomUUID } from "node:crypto";
import type { ClaimResult } from "../../services/contract/claiming.ts";
import type { FullItem, ListItemsOutput } from "../../services/contract/operations/query-items.ts";
import type { OperationName, OutputOf, RequestOf } from "../../services/contract/registry.ts";
import { type TestEngine, worker } from "./engine.ts";

type Search = Omit<RequestOf<"query_items">, "operation" | "itemId">;
type Get = Pick<RequestOf<"query_items">, "includeAncestors" | "includeTimestamps">;
type Claims = NonNullable<RequestOf<"claim_item">["claims"]>;
type Transition = NonNullable<RequestOf<"advance_item">["transitions"]>[number];

export type Asking = ReturnType<typeof asking>;

export function asking(engine: TestEngine) {
  const ask = async <N extends OperationName>(name: N, input: RequestOf<N>): Promise<OutputOf<N>> =>
    (await engine.call(name, input)) as OutputOf<N>;
  return {
    ask,
    next: (input: RequestOf<"get_next_item"> = {}) => ask("get_next_item", input),
    search: async (input: Search = {}) =>
      (await ask("query_items", { operation: "search", ...input })) as ListItemsOutput,
    /** As the engine answers it: with whether it is offered to a stranger. */
    get: async (itemId: string, input: Get = {}) =>
      (await ask("query_items", { operation: "get", itemId, ...input })) as FullItem & { ready: boolean },
    explain: (itemId: string, input: Omit<RequestOf<"explain_item">, "itemId"> = {}) =>
      ask("explain_item", { itemId, ...input }),
    status: (itemId: string, input: Omit<RequestOf<"get_next_status">, "itemId"> = {}) =>
      ask("get_next_status", { itemId, ...input }),
    blocked: (input: RequestOf<"get_blocked_items"> = {}) => ask("get_blocked_items", input),
    claims: (input: RequestOf<"list_claims"> = {}) => ask("list_claims", input),
    agents: (input: RequestOf<"list_agents"> = {}) => ask("list_agents", input),
    /** One claim of one agent; its session is named after it unless the test says otherwise. */
    claim: async (
      agent: string,
      entry: Claims[number],
      more: { workerId?: string; capabilities?: string } = {},
    ) => {
      const call = { actor: worker(agent), requestId: randomUUID(), workerId: `${agent}-session`, ...more };
      const [result] = (await ask("claim_item", { ...call, claims: [entry] })).claims ?? [];
      return result as ClaimResult;
    },
    /** One transition. With an agent it comes from that agent's session of {@link claim}. */
    advance: async (transition: Transition, agent?: string) => {
      const who = agent === undefined ? {} : { actor: worker(agent), workerId: `${agent}-session` };
      const [result] = (await ask("advance_item", { transitions: [transition], ...who })).results;
      return result;
    },
  };
}
