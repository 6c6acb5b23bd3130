/** An engine on a test database, the way a process would put it together. */
import { FULL_ACCESS } from "../../services/engine/access.ts";
import { randomUUID } from "node:crypto";
import type { OpenDatabase } from "../../db/open.ts";
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import type { Coordination } from "../../services/coordination/port.ts";
import { parseInput } from "../../services/contract/parse.ts";
import { operationByName } from "../../services/contract/registry.ts";
import { type ActorRules, UNVERIFIED } from "../../services/engine/actors/actor-rules.ts";
import { createEngine } from "../../services/engine/create-engine.ts";
import { createDatabaseTime } from "../../services/engine/database-time.ts";
import {
  DEFAULT_SETTINGS,
  defaultPolicies,
  type EngineSettings,
  type EngineWatcher,
  type PolicySource,
} from "../../services/engine/deps.ts";
import { createSchemaSource, type SchemaSource } from "../../services/engine/config/schema-source.ts";
import type { Caller, Engine } from "../../services/engine/engine.ts";

export interface TestEngine {
  readonly engine: Engine;
  readonly coordination: Coordination;
  /** Parses like a door does, then executes. The answer is whatever the test expects it to be. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test that reads a wrong field fails by itself
  call(name: string, input: unknown, caller?: Partial<Caller>): Promise<any>;
  close(): Promise<void>;
}

export interface TestEngineOptions {
  readonly settings?: Partial<EngineSettings>;
  readonly policyOf?: PolicySource;
  readonly schemas?: SchemaSource;
  readonly actors?: ActorRules;
  readonly watcher?: EngineWatcher;
  /** Shared by several engines to make a fleet of one process; closed by whoever made it. */
  readonly coordination?: Coordination;
}

const SILENT = {
  info: () => {},
  warn: () => {},
  // oxlint-disable-next-line no-console -- what an engine calls an error belongs into a failing test's output
  error: (data: object, message: string) => console.error(message, data),
};

export function createTestEngine(
  database: Pick<OpenDatabase, "db">,
  options: TestEngineOptions = {},
): TestEngine {
  const coordination = options.coordination ?? createLocalCoordination();
  const engine = createEngine({
    db: database.db,
    coordination,
    // Asked anew for every use, however long that takes: tests move the clock between two calls.
    time: createDatabaseTime(database.db, 0, 60_000),
    log: SILENT,
    settings: { ...DEFAULT_SETTINGS, ...options.settings },
    policyOf: options.policyOf ?? defaultPolicies,
    schemas: options.schemas ?? createSchemaSource({ log: SILENT }),
    actors: options.actors ?? UNVERIFIED,
    random: Math.random,
    ...(options.watcher && { watcher: options.watcher }),
  });
  return {
    engine,
    coordination,
    call(name, input, caller = {}) {
      const operation = operationByName.get(name);
      if (operation === undefined) throw new Error(`no operation ${name}`);
      return engine.execute(name, parseInput(operation, input), { ...testCaller(), ...caller });
    },
    async close() {
      await engine.close();
      if (options.coordination === undefined) await coordination.close();
    },
  };
}

export function testCaller(): Caller {
  return {
    access: FULL_ACCESS,
    credential: null,
    session: null,
    client: null,
    requestId: randomUUID(),
    signal: new AbortController().signal,
  };
}

/** `actor` of a worker called `id`. */
export function worker(id: string): { id: string; kind: "subagent" } {
  return { id, kind: "subagent" };
}
