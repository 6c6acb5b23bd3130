/** The tables as Kysely sees them. Columns are snake_case here and nowhere else. */
import type { Generated } from "kysely";
import type { Outcome, Priority, Role } from "../services/core/roles.ts";
import type {
  ResourceKeysTable,
  ResourceLeaseHistoryTable,
  ResourceLeasesTable,
  ResourceTicketsTable,
} from "./lease-tables.ts";
import type { ApiTokensTable, CallColumns } from "./credential-tables.ts";
import type { DefaultInstant, Instant, Json, StoredActor, StoredVerification } from "./column-types.ts";
import type { RetentionPassesTable, RootBreakersTable, RootEndsTable } from "./trouble-tables.ts";
import type { RemindersTable, ScheduleRunsTable, SchedulesTable } from "./wake-up-tables.ts";
import type { ItemVersionsTable, NotesTable, NoteVersionsTable, PlanDocumentsTable } from "./text-tables.ts";

export interface SettingsTable {
  name: string;
  value: string;
  updated_at: DefaultInstant;
}

export interface ItemsTable {
  id: string;
  root_id: string;
  parent_id: string | null;
  ancestors: string[];
  depth: number;
  title: string;
  summary: Generated<string>;
  description: string | null;
  type: string | null;
  tags: string[];
  traits: string[];
  needs: string[];
  assignee: string | null;
  properties: Json<Record<string, unknown>> | null;
  metadata: string | null;
  priority: Priority;
  complexity: number | null;
  requires_verification: boolean;
  due_at: Instant | null;
  version: Generated<number>;
  created_at: DefaultInstant;
  modified_at: DefaultInstant;
  created_by: string | null;
  created_actor: StoredActor;
  created_verification: StoredVerification;
  modified_by: string | null;
  modified_actor: StoredActor;
  modified_verification: StoredVerification;
}

export interface ItemStateTable {
  item_id: string;
  role: Role;
  previous_role: "queue" | "work" | "review" | null;
  outcome: Outcome | null;
  status_label: string | null;
  blockers: number;
  ancestor_blockers: number;
  open_children: number;
  done_children: number;
  close_withheld: boolean;
  available_at: Instant | null;
  attempts: number;
  dead: boolean;
  start_gate_open: boolean;
  agent: string | null;
  session: string | null;
  fence: number;
  claimed_at: Instant | null;
  original_claimed_at: Instant | null;
  expires_at: Instant | null;
  ttl_ms: number | null;
  root_id: string;
  parent_id: string | null;
  ancestors: string[];
  rank: number;
  priority: Priority;
  complexity: number | null;
  created_at: Instant;
  modified_at: Instant;
  role_changed_at: Instant;
  type: string | null;
  tags: string[];
  traits: string[];
  needs: string[];
  assignee: string | null;
  /** What it takes when it enters work, for offers to be filtered by. */
  resources: Json<Record<string, unknown>[]> | null;
  /** Agents to whom its review is not offered. */
  review_excludes: string[] | null;
  /** Keys of its leases. */
  leased: string[] | null;
  /** Keys that were taken from it by force since it entered work. */
  lost_leases: string[] | null;
  review_rounds: Generated<number>;
}

export interface AttemptsTable {
  item_id: string;
  fence: number;
  agent: string;
  session: string;
  parent_agent: string | null;
  claimed_at: Instant;
  ended_at: Instant | null;
  end_reason: "completed" | "released" | "expired" | "revoked" | "failed" | null;
  /** Whose fault a failed one was. */
  failure: "item" | "environment" | null;
  detail: string | null;
  usage: Json<Record<string, unknown>> | null;
  /** The transaction that ended it; readers find new ends by it. */
  ended_xid: string | null;
  actor: StoredActor;
  verification: StoredVerification;
}

export interface DependenciesTable {
  id: string;
  from_item: string;
  to_item: string;
  type: "BLOCKS" | "RELATES_TO";
  unblock_at: "queue" | "work" | "review" | "terminal" | null;
  on_cancelled: "hold" | "release" | null;
  created_at: DefaultInstant;
  created_by: string | null;
  created_actor: StoredActor;
  created_verification: StoredVerification;
}

export interface TransitionsTable {
  id: Generated<number>;
  item_id: string;
  root_id: string;
  from_role: Role;
  to_role: Role;
  from_label: string | null;
  to_label: string | null;
  trigger: string;
  summary: string | null;
  agent: string | null;
  session: string | null;
  actor: StoredActor;
  verification: StoredVerification;
  fence: number | null;
  /** Resources that the move took, and those that its caller named. */
  consumed_credentials: string[] | null;
  at: DefaultInstant;
}

export interface TrashTable {
  id: string;
  item_id: string;
  root_id: string;
  title: string;
  items_count: number;
  deleted_at: DefaultInstant;
  deleted_by: string | null;
  deleted_actor: StoredActor;
  deleted_verification: StoredVerification;
  expires_at: Instant;
  restored_at: Instant | null;
  snapshot: Json<Record<string, unknown>>;
}

export interface IdempotencyTable {
  principal: string;
  key: string;
  element: string;
  operation: string;
  fingerprint: string;
  answer: Json<Record<string, unknown>>;
  target_id: string | null;
  created_at: DefaultInstant;
}

export interface EventsTable {
  seq: Generated<number>;
  type: string;
  item_id: string | null;
  root_id: string | null;
  data: Json<Record<string, unknown>>;
  at: DefaultInstant;
  xid: Generated<string>;
  traceparent: string | null;
}

export interface AgentsTable {
  agent: string;
  session: string;
  kind: string | null;
  parent_agent: string | null;
  client: Json<{ name: string; version: string }> | null;
  verification: StoredVerification;
  capabilities: string[];
  first_seen_at: DefaultInstant;
  last_seen_at: DefaultInstant;
}

export interface ProcessesTable {
  id: string;
  kind: string;
  version: string;
  config: string | null;
  host: string;
  pid: number;
  started_at: DefaultInstant;
  seen_at: DefaultInstant;
  skew_ms: number;
  pool_max: number | null;
  pool_busy: number | null;
  pool_waiting: number | null;
}

/** Agents that finish what they hold and take nothing new. */
export interface AgentDrainsTable {
  agent: string;
  reason: string;
  drained_at: DefaultInstant;
  drained_by: string | null;
  actor: StoredActor;
  verification: StoredVerification;
}

export interface SweepsTable {
  name: string;
  ran_at: Instant;
  freed: number;
}

export interface AuditLogTable extends CallColumns {
  id: Generated<number>;
  at: DefaultInstant;
  action: string;
  item_id: string | null;
  root_id: string | null;
  agent: string | null;
  session: string | null;
  actor: StoredActor;
  verification: StoredVerification;
  data: Json<Record<string, unknown>>;
}

export interface SearchTextsTable {
  kind: "item" | "note";
  id: string;
  item_id: string;
  head: string;
  body: string;
  lexemes: string;
  changed_at: Instant;
}

export interface ProjectConfigsTable {
  root_id: string;
  config_yaml: string;
  fingerprint: string;
  /** Fingerprints that it had, the latest first and its own among them. */
  history: string[];
  updated_at: DefaultInstant;
  updated_by: string | null;
  actor: StoredActor;
  verification: StoredVerification;
}

export interface Database {
  muster_settings: SettingsTable;
  project_configs: ProjectConfigsTable;
  plan_documents: PlanDocumentsTable;
  items: ItemsTable;
  item_state: ItemStateTable;
  attempts: AttemptsTable;
  dependencies: DependenciesTable;
  transitions: TransitionsTable;
  trash: TrashTable;
  idempotency: IdempotencyTable;
  events: EventsTable;
  agents: AgentsTable;
  agent_drains: AgentDrainsTable;
  processes: ProcessesTable;
  sweeps: SweepsTable;
  resource_keys: ResourceKeysTable;
  resource_leases: ResourceLeasesTable;
  resource_lease_history: ResourceLeaseHistoryTable;
  resource_tickets: ResourceTicketsTable;
  audit_log: AuditLogTable;
  api_tokens: ApiTokensTable;
  notes: NotesTable;
  note_versions: NoteVersionsTable;
  item_versions: ItemVersionsTable;
  search_texts: SearchTextsTable;
  retention_passes: RetentionPassesTable;
  root_ends: RootEndsTable;
  root_breakers: RootBreakersTable;
  reminders: RemindersTable;
  schedules: SchedulesTable;
  schedule_runs: ScheduleRunsTable;
}
