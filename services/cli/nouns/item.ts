/** `muster item …`: the items, what stands in their way, and who worked on them. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { ExplainItemOutput } from "../../contract/operations/explain-item.ts";
import type { ListAttemptsOutput } from "../../contract/operations/list-attempts.ts";
import type { FullItem, ListItemsOutput, QueryItemsRequest } from "../../contract/operations/query-items.ts";
import { operationByName } from "../../contract/registry.ts";
import { createClient } from "../../worker-sdk/client.ts";
import { oneLine, print, since, table } from "../output.ts";
import { findTarget, type Target } from "../rest.ts";
import {
  call,
  confirm,
  does,
  lists,
  more,
  type Options,
  queryOf,
  show,
  showRead,
  verb,
  watched,
} from "./noun.ts";

export function addItemNoun(program: Command): void {
  const item = program.command("item").description("the items");
  lists(item, "list", "list items")
    .option("--role <roles>", "in these roles (comma-separated)")
    .option("--tags <tags>", "with any of these tags (comma-separated)")
    .option("--priority <priority>", "high, medium or low")
    .option("--ancestor-id <id>", "within this subtree")
    .option("--parent-id <id>", "directly below this item")
    .option("--readiness <readiness>", "ready, waiting, blocked …")
    .action(does(listItems));
  watched(verb(item, "show", "show one item in full"))
    .argument("<id>", "its id, or the beginning of it")
    .action(does(showItem));
  verb(item, "create", "make an item")
    .argument("<title>")
    .option("--parent-id <id>", "below this item")
    .option("--priority <priority>", "high, medium or low")
    .option("--type <type>", "which schema it follows")
    .option("--tags <tags>", "comma-separated")
    .option("--summary <text>", "what is to be done")
    .action(does(createItem));
  verb(item, "move", "move an item: start, complete, block, hold, resume, cancel, reopen, requeue …")
    .argument("<id>")
    .argument("<trigger>")
    .option("--summary <text>", "why; kept with the history")
    .action(does(moveItem));
  watched(verb(item, "explain", "say why an item is not offered, and what would change that"))
    .argument("<id>")
    .option("--agent <id>", "as this agent would be told")
    .option("--capabilities <list>", "of an agent that can do this (comma-separated)")
    .action(does(explainItem));
  lists(item, "attempts", "list who held an item from when to when, and how that ended")
    .argument("<id>")
    .action(does(listAttempts));
  verb(item, "delete", "throw an item away; it can be restored for 30 days")
    .argument("<id>", "its full id")
    .option("--recursive", "with everything below it")
    .option("--yes", "do not ask")
    .action(does(deleteItem));
}

async function query<T>({ urls, token }: Target, input: Record<string, unknown>): Promise<T> {
  const client = createClient({
    urls,
    token,
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

async function listItems(options: Options): Promise<void> {
  const { json: _json, watch: _watch, ...filter } = options;
  const given = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, NUMERIC.has(name) ? Number(value) : value] as const);
  const input = { operation: "search", ...Object.fromEntries(given) };
  await showRead(
    options,
    (target) => query<ListItemsOutput>(target, input),
    (list) => {
      if (list.items.length === 0) return "No items match.";
      more(list, list.items.length, options);
      const rows = list.items.map((item) => [
        item.id.slice(0, 8),
        item.isClaimed === true ? `${item.role} (claimed)` : item.role,
        item.priority,
        `${"  ".repeat(item.depth ?? 0)}${oneLine(item.title)}`,
      ]);
      return table(["ITEM", "ROLE", "PRIORITY", "TITLE"], rows);
    },
  );
}

async function showItem(options: Options, itemId: string): Promise<void> {
  await showRead(
    options,
    (target) => query<FullItem>(target, { operation: "get", itemId, includeAncestors: true }),
    (item) => operationByName.get("query_items")?.render(item) ?? JSON.stringify(item),
  );
}

async function createItem(options: Options, title: string): Promise<void> {
  const { tags, json, ...fields } = options;
  const body = { title, ...fields, ...(typeof tags === "string" ? { tags: tags.split(",") } : {}) };
  const made = await call({ method: "POST", path: "/items", body });
  print(json === true, made, () => String(made["id"]));
}

async function moveItem({ json, summary }: Options, id: string, trigger: string): Promise<void> {
  const body = { trigger, ...(summary === undefined ? {} : { summary }) };
  const moved = await call({ method: "POST", path: `/items/${await fullId(id)}/advance`, body });
  print(json === true, moved, () => `${String(moved["previousRole"])} -> ${String(moved["newRole"])}`);
}

async function explainItem(options: Options, id: string): Promise<void> {
  const path = `/items/${await fullId(id)}/explain${queryOf(options)}`;
  await show<ExplainItemOutput>(
    path,
    options,
    (said) => operationByName.get("explain_item")?.render(said) ?? "",
  );
}

async function listAttempts(options: Options, id: string): Promise<void> {
  const path = `/items/${await fullId(id)}/attempts${queryOf(options)}`;
  await show<ListAttemptsOutput>(path, options, (list) => {
    if (list.attempts.length === 0) return "Nobody has held it yet.";
    more(list, list.attempts.length, options);
    const rows = list.attempts.map((one) => [
      String(one.fence),
      one.agent,
      since(one.claimedAt),
      one.endedAt === undefined ? "" : since(one.endedAt),
      one.endReason ?? "goes on",
      oneLine(one.detail ?? ""),
    ]);
    return table(["FENCE", "AGENT", "CLAIMED", "ENDED", "HOW", "WHY"], rows);
  });
}

async function deleteItem(options: Options, id: string): Promise<void> {
  const below = options["recursive"] === true;
  await confirm(`Throw ${id} away${below ? ", with everything below it" : ""}?`, options);
  await call({ method: "DELETE", path: `/items/${id}${below ? "?recursive=true" : ""}` });
  print(options["json"] === true, { id, deleted: true }, () => `${id} is in the trash.`);
}

/** The whole id for the beginning of one. */
async function fullId(ref: string): Promise<string> {
  if (ref.length === 36) return ref;
  const { id } = await query<FullItem>(await findTarget(), { operation: "get", itemId: ref });
  return id;
}
