/** `muster claim list`, `muster agent list`, `muster item list|show`: what operators look at. */
import { randomUUID } from "node:crypto";
import type { ListAgentsOutput } from "../contract/operations/list-agents.ts";
import type { ListClaimsOutput } from "../contract/operations/list-claims.ts";
import type { FullItem, QueryItemsRequest, ListItemsOutput } from "../contract/operations/query-items.ts";
import { operationByName } from "../contract/registry.ts";
import { clientConfig, readConfig } from "../runtime/config.ts";
import { createClient } from "../worker-sdk/client.ts";
import { findServer } from "./find-server.ts";
import { duration, oneLine, print, say, since, table } from "./output.ts";
import { getOk } from "./rest.ts";

/** Options as commander hands them over; those that were not given are left out of the call. */
export interface ListOptions extends Readonly<Record<string, string | boolean | undefined>> {
  readonly json?: boolean;
}

async function read(path: string, { json: _json, ...filter }: ListOptions): Promise<Record<string, unknown>> {
  const config = readConfig(clientConfig);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
  return getOk({ urls: await findServer(config), token: config.token }, `${path}?${query.toString()}`);
}

function more(list: { readonly hasMore: boolean; readonly offset: number }, shown: number): void {
  if (list.hasMore) say(`There are more: add --offset ${list.offset + shown}.`);
}

export async function listClaims(options: ListOptions): Promise<void> {
  const list = (await read("/api/v1/claims", options)) as unknown as ListClaimsOutput;
  print(options.json === true, list, () => {
    if (list.claims.length === 0) return "Nobody holds anything.";
    const rows = list.claims.map((claim) => [
      claim.itemId.slice(0, 8),
      claim.role,
      claim.agent,
      since(claim.claimedAt),
      claim.lapsed ? "lapsed" : duration(claim.msLeft),
      String(claim.fence),
      oneLine(claim.title),
    ]);
    return table(["ITEM", "ROLE", "AGENT", "SINCE", "LEFT", "FENCE", "TITLE"], rows);
  });
  if (options.json !== true) more(list, list.claims.length);
}

export async function listAgents(options: ListOptions): Promise<void> {
  const list = (await read("/api/v1/agents", options)) as unknown as ListAgentsOutput;
  print(options.json === true, list, () => {
    if (list.agents.length === 0) return "No agent was seen yet.";
    const rows = list.agents.map((agent) => [
      agent.agent,
      agent.kind ?? "",
      since(agent.lastSeenAt),
      String(agent.claims),
      (agent.holds ?? []).map((held) => oneLine(held.title, 30)).join(", "),
    ]);
    return table(["AGENT", "KIND", "SEEN", "CLAIMS", "HOLDS"], rows);
  });
  if (options.json !== true) more(list, list.agents.length);
}

async function query<T>(input: Record<string, unknown>): Promise<T> {
  const config = readConfig(clientConfig);
  const urls = await findServer(config);
  const client = createClient({
    urls,
    token: config.token,
    agent: { id: "muster-cli", kind: "user" },
    workerId: `cli-${randomUUID()}`,
    retryForMs: 0,
  });
  try {
    // The server parses it: an option it does not take is refused there, with what it takes.
    const answer: unknown = await client.call("query_items", input as QueryItemsRequest);
    return answer as T;
  } finally {
    client.close();
  }
}

/** Numbers arrive as text, and the tool takes them as numbers. */
const NUMERIC = new Set(["limit", "offset", "depth"]);

export async function listItems({ json, ...filter }: ListOptions): Promise<void> {
  const given = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, NUMERIC.has(name) ? Number(value) : value] as const);
  const list = await query<ListItemsOutput>({ operation: "search", ...Object.fromEntries(given) });
  print(json === true, list, () => {
    if (list.items.length === 0) return "No items match.";
    const rows = list.items.map((item) => [
      item.id.slice(0, 8),
      item.isClaimed === true ? `${item.role} (claimed)` : item.role,
      item.priority,
      `${"  ".repeat(item.depth ?? 0)}${oneLine(item.title)}`,
    ]);
    return table(["ITEM", "ROLE", "PRIORITY", "TITLE"], rows);
  });
  if (json !== true) more(list, list.items.length);
}

export async function showItem(itemId: string, { json }: ListOptions): Promise<void> {
  const item = await query<FullItem>({ operation: "get", itemId, includeAncestors: true });
  print(json === true, item, () => operationByName.get("query_items")?.render(item) ?? JSON.stringify(item));
}
