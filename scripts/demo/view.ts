/** What Muster says about the tree: read as operators and agents read it, by REST and MCP. */
import type { ListClaimsOutput, ListedClaim } from "../../services/contract/operations/list-claims.ts";
import type { Client, ToolOutput } from "../../services/worker-sdk/index.ts";

export type Claim = ListedClaim;
type FullItem = Extract<ToolOutput<"query_items">, { id: string }>;

export interface View {
  /** Who holds what below the root. */
  claims(): Promise<readonly Claim[]>;
  /** How many items are done, the root among them. */
  doneCount(): Promise<number>;
  item(itemId: string): Promise<FullItem>;
}

const ANSWER_MS_MAX = 5_000;
const PAGE = 100;

/** @param urls several are asked in turn: one of them may have been killed. */
export function createView(client: Client, urls: readonly string[], rootId: string): View {
  return {
    async claims() {
      const { claims } = await firstAnswer(urls, `/api/v1/claims?ancestorId=${rootId}&limit=${PAGE}`);
      return claims;
    },
    async doneCount() {
      const search = { operation: "search", ancestorId: rootId, role: "terminal", limit: 1 } as const;
      const answer = await client.call("query_items", search);
      if (!("total" in answer)) throw new TypeError("A search answers a page of items.");
      return answer.total;
    },
    async item(itemId) {
      const answer = await client.call("query_items", { operation: "get", itemId });
      if (!("id" in answer)) throw new TypeError("A get answers one item.");
      return answer;
    },
  };
}

async function firstAnswer(urls: readonly string[], path: string): Promise<ListClaimsOutput> {
  let lastError: unknown;
  for (const url of urls) {
    try {
      const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      if (response.ok) return (await response.json()) as ListClaimsOutput;
      lastError = new Error(`${url} answered ${response.status}: ${await response.text()}`);
    } catch (error) {
      lastError = error;
    }
  }
  throw new Error("No Muster says who holds what.", { cause: lastError });
}
