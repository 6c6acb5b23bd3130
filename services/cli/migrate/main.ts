/** `muster migrate`: brings a database to the schema of this version. */
import { openEngine } from "../../engine/main.ts";
import { databaseConfig, readConfig } from "../../runtime/config.ts";
import { openDataDirectory } from "../../runtime/data-directory.ts";
import { createLifecycle } from "../../runtime/lifecycle.ts";
import { createLog } from "../../runtime/log.ts";
import { print } from "../output.ts";

export async function migrateDatabase({ json }: { readonly json: boolean }): Promise<void> {
  const config = readConfig(databaseConfig);
  const log = createLog({ service: "migrate", level: config.logLevel, to: "stderr" });
  const lifecycle = createLifecycle();
  const stop = (): void => void lifecycle.stop().catch(() => undefined);
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const databasePath = config.databaseUrl === undefined ? await takeDirectory(config.dataDir) : undefined;
    const { prepare } = await openEngine(lifecycle, {
      databaseUrl: config.databaseUrl,
      databasePath,
      applicationName: "muster migrate",
      log,
    });
    const migrated = await prepare({ migrate: true });
    print(json, { migrated }, () =>
      migrated.length === 0 ? "The database is up to date." : `Applied ${migrated.join(", ")}.`,
    );
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await lifecycle.stop();
  }

  async function takeDirectory(path: string): Promise<string> {
    const directory = await lifecycle.own(
      "data directory",
      () => openDataDirectory(path),
      (opened) => opened.release(),
    );
    return directory.databasePath;
  }
}
