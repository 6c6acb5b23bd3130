/**
 * What a client may get wrong, said to a real server over MCP: every answer has a code, names the
 * cause and the next step in words that a model reads, and the database is as it was before.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REQUEST_BODY_SIZE_MAX_BYTES } from "../../../services/contract/limits.ts";
import { type EdgeFixture, plantGraph } from "../../support/fixtures.ts";
import { CLIENT_KINDS, type McpClient, type ToolAnswer } from "../../support/mcp-clients.ts";
import { legacy, modernMessage, send } from "../../support/raw-mcp.ts";
import { type RealServer, startTestServer } from "../../support/server.ts";
import { claimOf, create, IDS, MISTAKES, move, TWINS, update, ZOE } from "./mistakes.ts";

const TABLES = [
  "items",
  "item_state",
  "dependencies",
  "attempts",
  "transitions",
  "events",
  "trash",
  "idempotency",
];

let server: RealServer;
let client: McpClient;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  const { first, second, third, container, inside, deepest, closed, held } = IDS;
  const edges: EdgeFixture[] = [
    { from: first, to: second },
    { from: second, to: third },
  ];
  await plantGraph(
    server.database.db,
    [
      { id: first, title: "first" },
      { id: second, title: "second" },
      { id: third, title: "third" },
      { id: container, title: "container", role: "work" },
      { id: inside, parentId: container, role: "work" },
      { id: deepest, parentId: inside },
      { id: closed, role: "terminal" },
      { id: held, role: "work", claim: ZOE },
      ...TWINS.map((id) => ({ id })),
    ],
    edges,
  );
  const kind = CLIENT_KINDS.find(({ name }) => name === "v2 client auto over http");
  client = await (kind as (typeof CLIENT_KINDS)[number]).connect(server.mcpUrl);
});
afterAll(async () => {
  await client.close();
  await server.close();
});

/** Every row of every table that a call could have written to. */
async function dump(): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const table of TABLES) {
    const { rows } = await sql<{
      row: unknown;
    }>`select to_jsonb(t) as row from ${sql.table(table)} t order by to_jsonb(t)::text`.execute(
      server.database.db,
    );
    contents[table] = rows.map(({ row }) => row);
  }
  return contents;
}

interface Refusal {
  readonly code: string;
  readonly kind?: string;
  readonly message: string;
  readonly hint: string;
}

/** The refusal in an answer, whether it is of the whole call or of the one element in it. */
function refusalIn({ structured }: ToolAnswer): Refusal | undefined {
  const whole = structured["error"] as Refusal | undefined;
  if (whole !== undefined) return whole;
  const elements = ["claims", "releases", "refreshes", "results", "failures"].flatMap(
    (list) => (structured[list] ?? []) as Record<string, string>[],
  );
  const [one] = elements;
  if (one === undefined || elements.length > 1) return undefined;
  return {
    code: one["errorCode"] ?? one["outcome"] ?? "",
    message: one["error"] ?? "",
    hint: one["hint"] ?? "",
  };
}

describe("a call that cannot be carried out", () => {
  it.each(MISTAKES)(
    "$name is refused as $code with its cause and the next step, and changes nothing",
    async ({ tool, args, code, cause, next }) => {
      const before = await dump();
      const answer = await client.call(tool, { ...args });
      const refusal = refusalIn(answer);
      expect(refusal).toMatchObject({ code });
      expect(refusal?.message).toMatch(cause);
      expect(`${refusal?.message} ${refusal?.hint}`).toMatch(next);
      expect(answer.text).toContain(code);
      expect(answer.text).toMatch(cause);
      expect(answer.text).toMatch(next);
      expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${ZOE.agent}|${ZOE.session}`));
      expect(await dump()).toEqual(before);
    },
  );

  it.each(["claim_item", "advance_item", "manage_items", "query_items", "explain_item"])(
    "an ambiguous prefix lists its matches in the answer of %s, text included",
    async (tool) => {
      const args = {
        claim_item: claimOf({ itemId: "abcd" }),
        advance_item: move("abcd", "start"),
        manage_items: update({ itemId: "abcd", title: "one of them" }),
        query_items: { operation: "get", itemId: "abcd" },
        explain_item: { itemId: "abcd" },
      }[tool] as Record<string, unknown>;
      const answer = await client.call(tool, args);
      for (const id of TWINS) {
        expect(answer.text).toContain(id);
        expect(JSON.stringify(answer.structured)).toContain(id);
      }
    },
  );
});

describe("a body of more than 4 MiB", () => {
  const title = "x".repeat(REQUEST_BODY_SIZE_MAX_BYTES);
  const params = { name: "manage_items", arguments: create({ title }) };

  it.each(["legacy", "modern"] as const)(
    "is refused in the %s era with the limit and what to do, and changes nothing",
    async (era) => {
      const before = await dump();
      const answer =
        era === "legacy"
          ? await legacy(server.mcpUrl, "tools/call", params)
          : await send(server.mcpUrl, modernMessage("tools/call", params));
      expect(answer.status).toBe(413);
      expect(answer.json().error?.message).toMatch(
        /larger than 4194304 bytes\. Split the batch or shorten the text/,
      );
      expect(answer.json().error?.data).toEqual({ limit_bytes: REQUEST_BODY_SIZE_MAX_BYTES });
      expect(await dump()).toEqual(before);
    },
  );
});
