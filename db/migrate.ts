/**
 * Brings a database to the schema that this build knows. Forward only: a database that
 * is newer than the build is refused, since an old process would write rows that break
 * the newer rules. The migrator's own advisory lock lets many processes start at once.
 */
import { type Kysely, sql } from "kysely";
import { type Migration, type MigrationProvider, Migrator } from "kysely/migration";
import * as workGraph from "./migrations/0001-work-graph.ts";
import * as oneTrip from "./migrations/0002-one-trip.ts";
import * as projectConfigs from "./migrations/0003-project-configs.ts";
import * as notes from "./migrations/0004-notes.ts";
import * as search from "./migrations/0005-search.ts";
import * as planDocuments from "./migrations/0006-plan-documents.ts";
import * as resourceLeases from "./migrations/0007-resource-leases.ts";
import * as attribution from "./migrations/0008-attribution.ts";
import * as dispatchedAttempts from "./migrations/0009-dispatched-attempts.ts";
import * as configsOf from "./migrations/0010-configs-of.ts";
import * as reviewRounds from "./migrations/0011-review-rounds.ts";
import * as reviewExcludes from "./migrations/0012-review-excludes.ts";
import * as credentials from "./migrations/0013-credentials.ts";
import * as operators from "./migrations/0014-operators.ts";
import * as events from "./migrations/0015-events.ts";
import * as remindersAndSchedules from "./migrations/0016-reminders-and-schedules.ts";
import * as timeAndTrouble from "./migrations/0017-time-and-trouble.ts";
import * as webhooks from "./migrations/0018-webhooks.ts";
import type { Database } from "./schema.ts";

const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-work-graph": workGraph,
  "0002-one-trip": oneTrip,
  "0003-project-configs": projectConfigs,
  "0004-notes": notes,
  "0005-search": search,
  "0006-plan-documents": planDocuments,
  "0007-resource-leases": resourceLeases,
  "0008-attribution": attribution,
  "0009-dispatched-attempts": dispatchedAttempts,
  "0010-configs-of": configsOf,
  "0011-review-rounds": reviewRounds,
  "0012-review-excludes": reviewExcludes,
  "0013-credentials": credentials,
  "0014-operators": operators,
  "0015-events": events,
  "0016-reminders-and-schedules": remindersAndSchedules,
  "0017-time-and-trouble": timeAndTrouble,
  "0018-webhooks": webhooks,
};

const provider: MigrationProvider = { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) };

export class NewerSchemaError extends Error {
  readonly unknown: readonly string[];

  constructor(unknown: readonly string[]) {
    super(
      `the database has migrations that this build does not know (${unknown.join(", ")}): ` +
        "run the newer version of Muster, or restore an older backup",
    );
    this.name = "NewerSchemaError";
    this.unknown = unknown;
  }
}

/** Applies what is missing and answers the names of the migrations that ran. */
export async function migrate(db: Kysely<Database>): Promise<string[]> {
  await missingMigrations(db);
  const { results, error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error("the migration failed", { cause: error });
  return (results ?? [])
    .filter((result) => result.status === "Success")
    .map((result) => result.migrationName);
}

/**
 * Names of the migrations that the database lacks.
 * @throws NewerSchemaError if it was migrated by a newer build.
 */
export async function missingMigrations(db: Kysely<Database>): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db));
  const unknown = [...applied].filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) throw new NewerSchemaError(unknown);
  return Object.keys(MIGRATIONS).filter((name) => !applied.has(name));
}

async function appliedMigrations(db: Kysely<Database>): Promise<string[]> {
  const table = await sql<{
    found: boolean;
  }>`select to_regclass('kysely_migration') is not null as found`.execute(db);
  if (table.rows[0]?.found !== true) return [];
  const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return applied.rows.map((row) => row.name);
}
