/**
 * What reads cost a model, at the sizes that are promised, and over the worst data that can be written: the
 * longest titles of the widest letters, the deepest place, the most tags and edges.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as limits from "../../../services/contract/limits.ts";
import { answerTokens } from "../../support/answer-tokens.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph } from "../../support/fixtures.ts";

const ANSWER_TOKENS_MAX = 25_000;
const NEXT_TOKENS_MAX = 1_500;

/** One character to fill texts with, and how many of them a long text holds. */
interface Filling {
  readonly character: string;
  readonly bodyLength: number;
  readonly configLength: number;
}

/** Three bytes in one place of a length: nothing weighs more where lengths are counted. */
const WIDE: Filling = { character: "漢", bodyLength: 21_800, configLength: 43_000 };
/** One byte that is two in JSON, and four in JSON within the text of an answer. */
const QUOTES: Filling = { character: '"', bodyLength: 65_000, configLength: 130_000 };

describeEachDatabase("what a read costs", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const tokens = (name: string, input: object): Promise<number> => answerTokens(engine, name, input);

  describe("over a thousand ordinary items", () => {
    beforeAll(async () => {
      await sql`truncate items cascade`.execute(database().db);
      const items = Array.from({ length: 1_000 }, (_, n) => ({
        title: `Write the handler of route number ${n}`,
        priority: (["high", "medium", "low"] as const)[n % 3] ?? "low",
        complexity: 1 + (n % 10),
        tags: ["backend"],
      }));
      await plantGraph(database().db, items, []);
    });

    it("twenty recommendations cost at most 1,500 tokens", async () => {
      expect(await tokens("get_next_item", { limit: 20 })).toBeLessThanOrEqual(NEXT_TOKENS_MAX);
      expect(await answerTokens(engine, "get_next_item", { limit: 20 }, "text")).toBeLessThanOrEqual(
        NEXT_TOKENS_MAX,
      );
    });

    it("twenty hits cost at most 4,000 tokens, and fifty items of a list at most 5,000", async () => {
      expect(await tokens("query_items", { operation: "search", query: "handler route" })).toBeLessThan(
        4_000,
      );
      expect(await tokens("query_items", { operation: "search" })).toBeLessThan(5_000);
    });
  });

  describe.each([
    ["the widest letters", WIDE],
    ["quotes", QUOTES],
  ])("over the worst that can be written, in %s", (_name, filling) => {
    const wide = (length: number): string => filling.character.repeat(length);
    let root = "";
    let parent = "";
    let leaf = "";
    let blocker = "";
    beforeAll(async () => {
      const { db } = database();
      await sql`truncate items cascade`.execute(db);
      const tag = (n: number): string => `${n}`.padEnd(limits.TAG_LENGTH_MAX, "x");
      const worst = {
        title: `needle ${wide(limits.TITLE_LENGTH_MAX - 7)}`,
        summary: wide(limits.SUMMARY_LENGTH_MAX),
        description: wide(limits.DESCRIPTION_LENGTH_MAX),
        type: "t".repeat(limits.TYPE_LENGTH_MAX),
        tags: Array.from({ length: limits.TAGS_PER_ITEM_MAX }, (_, n) => tag(n)),
        statusLabel: wide(limits.STATUS_LABEL_LENGTH_MAX),
      };
      const ids: string[] = [];
      for (let depth = 0; depth < 60; depth += 1) {
        const [id = ""] = await plantGraph(db, [{ ...worst, parentId: ids.at(-1) ?? null }], []);
        ids.push(id);
      }
      [root = "", parent = ""] = [ids[0], ids.at(-1)];
      const short = { ...worst, description: null };
      const leaves = await plantGraph(
        db,
        Array.from({ length: 130 }, () => ({ ...short, parentId: parent })),
        [],
      );
      [leaf = "", blocker = ""] = leaves;
      await plantGraph(
        db,
        [],
        leaves.slice(100).flatMap((from) => leaves.slice(0, 100).map((to) => ({ from, to }))),
      );
      blocker = leaves.at(-1) ?? "";
      await writeLongTexts(engine, root, parent, filling);
    }, 120_000);

    it.each([
      ["a list", "query_items", () => ({ operation: "search", limit: 100, includeAncestors: true })],
      [
        "a search",
        "query_items",
        () => ({ operation: "search", query: "needle", limit: 100, explain: true }),
      ],
      ["one item", "query_items", () => ({ operation: "get", itemId: parent, includeAncestors: true })],
      [
        "an overview of roots",
        "query_items",
        () => ({ operation: "overview", includeChildren: true, limit: 100 }),
      ],
      [
        "an overview of an item",
        "query_items",
        () => ({ operation: "overview", itemId: parent, limit: 100 }),
      ],
      [
        "an overview of an anchor",
        "query_items",
        () => ({ operation: "overview", anchorId: parent, limit: 100 }),
      ],
      ["what is next", "get_next_item", () => ({ limit: 20, includeDetails: true, includeAncestors: true })],
      [
        "what is blocked",
        "get_blocked_items",
        () => ({ limit: 100, includeItemDetails: true, includeAncestors: true }),
      ],
      ["an explanation", "explain_item", () => ({ itemId: leaf })],
      ["what can be done next", "get_next_status", () => ({ itemId: leaf })],
      [
        "a graph",
        "query_dependencies",
        () => ({ itemId: leaf, neighborsOnly: false, includeItemInfo: true, limit: 100 }),
      ],
      ["backlinks", "query_dependencies", () => ({ operation: "backlinks", itemId: leaf, limit: 100 })],
      [
        "the notes of an item",
        "query_notes",
        () => ({ operation: "list", itemId: parent, includeBody: true }),
      ],
      ["one note", "query_notes", () => ({ operation: "get", itemId: parent, key: "note-0" })],
      ["a search of notes", "query_notes", () => ({ operation: "search", query: "needle", limit: 100 })],
      [
        "the history of a note",
        "query_notes",
        () => ({ operation: "history", itemId: parent, key: "note-0" }),
      ],
      ["the context of an item", "get_context", () => ({ itemId: parent, includeAncestors: true })],
      ["a brief", "get_context", () => ({ mode: "brief", itemId: parent })],
      [
        "what a session goes on with",
        "get_context",
        () => ({ since: "2020-01-01T00:00:00Z", includeAncestors: true, limit: 200 }),
      ],
      ["what is stuck", "get_context", () => ({ mode: "health-check", includeAncestors: true })],
      ["what an agent has", "get_context", () => ({ mode: "agent", agent: "ann" })],
      ["the plans of a project", "manage_plan_documents", () => ({ operation: "list", rootId: root })],
      ["one plan", "manage_plan_documents", () => ({ operation: "get", rootId: root, slug: "plan" })],
      ["the rules of a project", "query_rules", () => ({ operation: "list", rootId: root })],
      ["a configuration", "manage_project_config", () => ({ operation: "get", rootId: root })],
      ["all claims", "list_claims", () => ({ limit: 100 })],
      ["all agents", "list_agents", () => ({ limit: 100 })],
    ] as const)("%s stays below 25,000 tokens", async (_what, name, input) => {
      expect([root, blocker]).not.toContain("");
      expect(await tokens(name, input())).toBeLessThan(ANSWER_TOKENS_MAX);
      expect(await answerTokens(engine, name, input(), "text")).toBeLessThan(ANSWER_TOKENS_MAX);
    });

    it("a list that is cut short goes on where it ended", async () => {
      const seen = new Set<string>();
      let offset = 0;
      for (;;) {
        const page = (await engine.call("query_items", { operation: "search", limit: 100, offset })) as {
          items: { id: string }[];
          returned: number;
          total: number;
          hasMore: boolean;
        };
        for (const item of page.items) seen.add(item.id);
        offset += page.returned;
        if (!page.hasMore) {
          expect(seen.size).toBe(page.total);
          break;
        }
      }
    });
  });
});

/** Fifty notes, a plan and a configuration, each as long as it may be. */
async function writeLongTexts(
  engine: TestEngine,
  rootId: string,
  itemId: string,
  { character, bodyLength, configLength }: Filling,
): Promise<void> {
  const body = `needle ${character.repeat(bodyLength)}`;
  for (let n = 0; n < 50; n += 10) {
    const notes = Array.from({ length: 10 }, (_, m) => ({
      itemId,
      key: `note-${n + m}`,
      role: "work",
      body,
    }));
    await engine.call("manage_notes", { operation: "upsert", notes });
  }
  await engine.call("manage_plan_documents", { operation: "stash", rootId, slug: "plan", body });
  const configYaml = `work_item_schemas: {}\n# ${character.repeat(configLength)}\n`;
  await engine.call("manage_project_config", { operation: "push", rootId, configYaml });
}
