/** A project and what agents do with its configuration, typed as it is answered. */
import type {
  GetConfigOutput,
  PushConfigOutput,
} from "../../../services/contract/operations/manage-project-config.ts";
import type { CreateItemsOutput } from "../../../services/contract/operations/manage-items.ts";
import type { TestEngine } from "../../support/engine.ts";

export class Project {
  readonly engine: TestEngine;
  readonly rootId: string;

  private constructor(engine: TestEngine, rootId: string) {
    this.engine = engine;
    this.rootId = rootId;
  }

  static async create(engine: TestEngine, fields: object = { type: "project" }): Promise<Project> {
    return new Project(engine, await createItem(engine, fields));
  }

  /** The same project as another replica sees it. */
  on(engine: TestEngine): Project {
    return new Project(engine, this.rootId);
  }

  async push(configYaml: string, more: object = {}): Promise<PushConfigOutput> {
    const input = { operation: "push", rootId: this.rootId, configYaml, ...more };
    return (await this.engine.call("manage_project_config", input)) as PushConfigOutput;
  }

  async get(more: object = {}): Promise<GetConfigOutput> {
    const input = { operation: "get", rootId: this.rootId, ...more };
    return (await this.engine.call("manage_project_config", input)) as GetConfigOutput;
  }

  async item(fields: object = {}): Promise<string> {
    return await createItem(this.engine, { parentId: this.rootId, ...fields });
  }
}

export async function createItem(engine: TestEngine, fields: object = {}): Promise<string> {
  const created = await createItems(engine, [{ title: "Shop", ...fields }]);
  return created.items[0]?.id ?? "";
}

export async function createItems(engine: TestEngine, items: readonly object[]): Promise<CreateItemsOutput> {
  return (await engine.call("manage_items", { operation: "create", items })) as CreateItemsOutput;
}
