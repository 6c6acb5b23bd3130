/** The tables of reminders and schedules, as Kysely sees them; see migration 0016. */
import type { Generated } from "kysely";
import type { DefaultInstant, Instant, Json, StoredActor, StoredVerification } from "./column-types.ts";

export interface RemindersTable {
  id: string;
  item_id: string;
  remind_at: Instant;
  note: string | null;
  to_agent: string | null;
  to_capability: string | null;
  fired_at: Instant | null;
  acked_at: Instant | null;
  acked_by: string | null;
  schedule_id: string | null;
  created_at: DefaultInstant;
  created_by: string | null;
  actor: StoredActor;
  verification: StoredVerification;
  updated_at: DefaultInstant;
}

export interface SchedulesTable {
  id: string;
  name: string;
  item_id: string | null;
  action: "create" | "advance" | "remind";
  template: Json<Record<string, unknown>>;
  cron: string | null;
  every_seconds: number | null;
  starts_at: Instant;
  timezone: string;
  misfire: "skip" | "fire_once" | "catch_up";
  catch_up_max: number;
  overlap: "allow" | "skip" | "queue";
  paused: Generated<boolean>;
  next_at: Instant | null;
  version: Generated<number>;
  created_at: DefaultInstant;
  created_by: string | null;
  actor: StoredActor;
  verification: StoredVerification;
  updated_at: DefaultInstant;
}

export interface ScheduleRunsTable {
  schedule_id: string;
  planned_at: Instant;
  manual: Generated<boolean>;
  outcome: "queued" | "fired" | "skipped" | "failed";
  detail: string | null;
  item_id: string | null;
  reminder_id: string | null;
  ran_at: DefaultInstant;
}
