/** Where the examples of task-orchestrator's documentation are played: one project whose types ask for notes. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, vitest/no-standalone-expect -- an example says itself which fields it shows */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect } from "vitest";
import type { OpenDatabase } from "../../../db/open.ts";
import type { TestEngine } from "../../support/engine.ts";

export const CONFIG = `
work_item_schemas:
  feature-implementation:
    notes:
      - {key: feature-summary, role: queue, required: true, description: What, guidance: Say why, skill: spec-quality, maxLength: 4000}
      - {key: implementation-notes, role: work, required: true, description: How}
  task-implementation:
    notes:
      - {key: task-scope, role: queue, required: true, description: Scope}
      - {key: done-criteria, role: work, required: true, description: Done when, guidance: Be exact}
traits:
  needs-migration-review:
    notes:
      - {key: migration, role: review, description: Checked}
`;

// oxlint-disable-next-line typescript/no-explicit-any -- an example says itself which fields it shows
type Answer = any;

export const ID = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown as string;
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown as string;
export const TEXT = expect.any(String) as unknown as string;
export const NUMBER = expect.any(Number) as unknown as number;

export class Desk {
  readonly engine: TestEngine;
  readonly rootId: string;

  private constructor(engine: TestEngine, rootId: string) {
    this.engine = engine;
    this.rootId = rootId;
  }

  /** An empty database with this one project. */
  static async open(engine: TestEngine, { db }: Pick<OpenDatabase, "db">): Promise<Desk> {
    await sql`truncate items cascade`.execute(db);
    const made = await engine.call("manage_items", {
      operation: "create",
      items: [{ title: "Q3 Platform Project", type: "project" }],
    });
    const desk = new Desk(engine, made.items[0].id as string);
    await desk.call("manage_project_config", {
      operation: "push",
      rootId: desk.rootId,
      configYaml: CONFIG,
    });
    return desk;
  }

  call(tool: string, input: object): Promise<Answer> {
    return this.engine.call(tool, input);
  }

  /** An item of the project. */
  async item(title: string, fields: object = {}): Promise<string> {
    const made = await this.call("manage_items", {
      operation: "create",
      items: [{ title, parentId: this.rootId, ...fields }],
    });
    return made.items[0].id as string;
  }

  note(itemId: string, key: string, role: string, body = "The handler validates tokens."): Promise<Answer> {
    return this.call("manage_notes", { operation: "upsert", notes: [{ itemId, key, role, body }] });
  }

  blocks(fromItemId: string, toItemId: string, more: object = {}): Promise<Answer> {
    const edge = { fromItemId, toItemId, type: "BLOCKS", ...more };
    return this.call("manage_dependencies", { operation: "create", dependencies: [edge] });
  }

  async advance(itemId: string, trigger: string): Promise<void> {
    const { results } = await this.call("advance_item", { itemId, trigger });
    expect(results[0]).toMatchObject({ applied: true });
  }

  /** What one worker gets for one claim. */
  claim(agent: string, entry: object): Promise<Answer> {
    return this.call("claim_item", {
      claims: [entry],
      actor: { id: agent, kind: "subagent", parent: "orchestrator-1" },
      requestId: randomUUID(),
    });
  }
}
