/** An engine as an API process composes it, over a database of its own; what the contenders of the bench call. */
import type { OpenDatabase } from "../../db/open.ts";
import type { Coordination } from "../../services/coordination/port.ts";
import { parseInput } from "../../services/contract/parse.ts";
import { operationByName, type OperationName } from "../../services/contract/registry.ts";
import { FULL_ACCESS } from "../../services/engine/access.ts";
import { UNVERIFIED } from "../../services/engine/actors/actor-rules.ts";
import { createSchemaSource } from "../../services/engine/config/schema-source.ts";
import { createEngine } from "../../services/engine/create-engine.ts";
import { createDatabaseTime } from "../../services/engine/database-time.ts";
import type { Engine } from "../../services/engine/engine.ts";
import { DEFAULT_SETTINGS, defaultPolicies } from "../../services/engine/deps.ts";

const QUIET = {
  info: () => {},
  warn: () => {},
  error: (data: object, text: string) => console.error(text, data),
};

export interface BenchEngine {
  call(name: OperationName, input: object): Promise<Record<string, unknown>>;
  readonly retain: Engine["retain"];
  close(): Promise<void>;
}

/** Whoever opened the database and the coordination closes them, after `close()`. */
export function createBenchEngine({ db }: Pick<OpenDatabase, "db">, coordination: Coordination): BenchEngine {
  const muster = createEngine({
    db,
    coordination,
    time: createDatabaseTime(db),
    log: QUIET,
    settings: DEFAULT_SETTINGS,
    policyOf: defaultPolicies,
    schemas: createSchemaSource({ log: QUIET }),
    actors: UNVERIFIED,
    random: Math.random,
  });
  const { signal } = new AbortController();
  const caller = {
    access: FULL_ACCESS,
    credential: null,
    session: null,
    client: null,
    requestId: "bench",
    signal,
  };
  return {
    async call(name, input) {
      const operation = operationByName.get(name);
      if (operation === undefined) throw new Error(`no operation ${name}`);
      return await muster.execute(name, parseInput(operation, input), caller);
    },
    retain: (stop) => muster.retain(stop),
    close: () => muster.close(),
  };
}
