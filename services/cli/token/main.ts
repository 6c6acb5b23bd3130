/** Runs one operation on the database itself, as whoever may open the database: nobody asks them for a token. */
import { randomUUID } from "node:crypto";
import { parseInput } from "../../contract/parse.ts";
import { operationByName, type OperationName } from "../../contract/registry.ts";
import { FULL_ACCESS } from "../../engine/access.ts";
import { openEngine } from "../../engine/main.ts";
import { doctorConfig, readConfig } from "../../runtime/config.ts";
import { openDataDirectory } from "../../runtime/data-directory.ts";
import { createLifecycle } from "../../runtime/lifecycle.ts";
import { createLog } from "../../runtime/log.ts";

export async function onDatabase(name: OperationName, input: unknown): Promise<Record<string, unknown>> {
  const config = readConfig(doctorConfig);
  const log = createLog({ service: "muster", level: "warn", to: "stderr" });
  const lifecycle = createLifecycle();
  try {
    const directory =
      config.databaseUrl === undefined
        ? await lifecycle.own(
            "data directory",
            () => openDataDirectory(config.dataDir),
            (opened) => opened.release(),
          )
        : null;
    const opened = await openEngine(lifecycle, {
      databaseUrl: config.databaseUrl,
      databasePath: directory?.databasePath,
      // Tells the servers of a fleet at once that a token has ended.
      redisUrl: config.redisUrl,
      applicationName: "muster token",
      log,
    });
    // Alone there is nobody else to do it; a fleet brings its database up to date by itself.
    await opened.prepare({ migrate: config.databaseUrl === undefined });
    const operation = operationByName.get(name);
    if (operation === undefined) throw new Error(`There is no operation ${name}.`);
    return await opened.engine.execute(name, parseInput(operation, input), {
      access: FULL_ACCESS,
      credential: null,
      session: null,
      client: { name: "muster-cli", version: "" },
      requestId: randomUUID(),
      signal: new AbortController().signal,
    });
  } finally {
    await lifecycle.stop();
  }
}
