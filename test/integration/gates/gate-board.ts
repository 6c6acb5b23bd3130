/** A project with a configuration of its own, and what happens in it in the words of a test. */
import { randomUUID } from "node:crypto";
import type { AdvanceItemOutput } from "../../../services/contract/operations/advance-item.ts";
import { type TestEngine, worker } from "../../support/engine.ts";

export class Project {
  readonly engine: TestEngine;
  readonly rootId: string;

  private constructor(engine: TestEngine, rootId: string) {
    this.engine = engine;
    this.rootId = rootId;
  }

  /** A root with this configuration. */
  static async open(engine: TestEngine, configYaml: string, root: object = {}): Promise<Project> {
    const output = (await engine.call("manage_items", {
      operation: "create",
      items: [{ title: "project", ...root }],
    })) as { items: { id: string }[] };
    const rootId = output.items[0]?.id ?? "";
    const project = new Project(engine, rootId);
    await project.push(configYaml);
    // Open and offered to nobody: a project closes with its last child.
    await project.advance(await project.item({ title: "the rest", tags: "rest" }), "block");
    return project;
  }

  async push(configYaml: string): Promise<void> {
    await this.engine.call("manage_project_config", {
      operation: "push",
      rootId: this.rootId,
      configYaml,
      force: true,
    });
  }

  async item(more: object = {}): Promise<string> {
    const output: unknown = await this.engine.call("manage_items", {
      operation: "create",
      items: [{ title: "item", parentId: this.rootId, ...more }],
    });
    const [item] = (output as { items: { id: string }[] }).items;
    if (item === undefined) throw new Error(JSON.stringify(output));
    return item.id;
  }

  async note(
    itemId: string,
    key: string,
    role: string,
    body = "done as agreed",
    agent: string | null = "ann",
  ): Promise<void> {
    const by = agent === null ? {} : { actor: worker(agent), workerId: `${agent}-1` };
    const output: unknown = await this.engine.call("manage_notes", {
      operation: "upsert",
      notes: [{ itemId, key, role, body }],
      ...by,
    });
    if ((output as { upserted: number }).upserted !== 1) throw new Error(JSON.stringify(output));
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- a test that reads a wrong field fails by itself
  async advance(itemId: string, trigger: string, more: object = {}): Promise<any> {
    const output = (await this.engine.call("advance_item", {
      itemId,
      trigger,
      ...more,
    })) as AdvanceItemOutput;
    return output.results[0];
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  async next(itemId: string): Promise<any> {
    return await this.engine.call("get_next_status", { itemId });
  }

  async roleOf(itemId: string): Promise<string> {
    return ((await this.engine.call("query_items", { operation: "get", itemId })) as { role: string }).role;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  async claim(agent: string, entry: object): Promise<any> {
    const call = { actor: worker(agent), workerId: `${agent}-1`, requestId: randomUUID(), claims: [entry] };
    return ((await this.engine.call("claim_item", call)) as { claims: unknown[] }).claims[0];
  }
}
