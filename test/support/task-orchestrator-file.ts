/** Databases as task-orchestrator 3 leaves them: made by its table definitions, filled with whatever a test needs. */
import { randomBytes } from "node:crypto";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

const TABLES = `
  create table flyway_schema_history (installed_rank integer primary key, version text, description text, type text,
    script text, checksum integer, installed_by text, installed_on text, execution_time integer, success integer);
  create table work_items (id blob primary key, parent_id blob references work_items (id), root_id blob,
    title text not null, description text, summary text not null default '', role text not null default 'queue',
    status_label text, previous_role text, priority text not null default 'medium', complexity integer,
    requires_verification integer not null default 0, depth integer not null default 0, metadata text, tags text,
    type text, properties text, created_at text not null, modified_at text not null, role_changed_at text not null,
    version integer not null default 1, claimed_by text, claimed_at text, claim_expires_at text,
    original_claimed_at text);
  create index idx_work_items_parent on work_items (parent_id);
  create table notes (id blob primary key, work_item_id blob not null, key text not null, role text not null,
    body text not null default '', created_at text not null, modified_at text not null, actor_id text,
    actor_kind text, actor_parent text, actor_proof text, verification_status text, verification_verifier text,
    verification_reason text, unique (work_item_id, key));
  create table dependencies (id blob primary key, from_item_id blob not null, to_item_id blob not null,
    type text not null, unblock_at text, created_at text not null, unique (from_item_id, to_item_id, type));
  create table role_transitions (id blob primary key, item_id blob not null, from_role text not null,
    to_role text not null, from_status_label text, to_status_label text, "trigger" text not null, summary text,
    transitioned_at text not null, actor_id text, actor_kind text, actor_parent text, actor_proof text,
    verification_status text, verification_verifier text, verification_reason text, consumed_credentials text);
  create index idx_role_transitions_item on role_transitions (item_id);
  create table project_config (id blob primary key, root_item_id blob not null unique, config_yaml text not null,
    fingerprint text not null, updated_at text not null, fingerprint_history text);
  create table plan_documents (id blob primary key, root_item_id blob not null, slug text not null,
    body text not null, content_hash text not null, status text not null default 'pending', adopted_by_item_id blob,
    created_at text not null, modified_at text not null, unique (root_item_id, slug));
  create table resource_leases (id blob primary key, resource_key text not null, holder_item_id blob not null,
    acquired_by_actor_id text, acquired_at text not null, expires_at text not null, original_acquired_at text not null,
    budget_limit integer, budget_used integer, budget_window_seconds integer, version integer not null default 1,
    unique (resource_key, holder_item_id));
  create table resource_lease_history (id blob primary key, resource_key text not null, holder_item_id blob not null,
    acquired_by_actor_id text, acquired_at text not null, expires_at text not null, released_at text,
    release_reason text, released_by_actor_id text);`;

export type Fields = Readonly<Record<string, SQLInputValue>>;

const AT = "2026-01-31 09:00:00";

export class TaskOrchestratorDatabase {
  readonly path: string;
  readonly #database: DatabaseSync;

  constructor(path: string, version = "16") {
    this.path = path;
    this.#database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    this.#database.exec(TABLES);
    this.#insert("flyway_schema_history", {
      installed_rank: 16,
      version,
      description: "plan documents",
      type: "SQL",
      script: `V${version}__plan_documents.sql`,
      success: 1,
    });
    this.#database.exec("begin");
  }

  item(fields: Fields = {}): string {
    return this.#add("work_items", {
      title: "item",
      created_at: AT,
      modified_at: AT,
      role_changed_at: AT,
      ...fields,
    });
  }

  note(itemId: string, fields: Fields = {}): string {
    const work_item_id = idOf(itemId);
    return this.#add("notes", {
      work_item_id,
      key: "plan",
      role: "queue",
      created_at: AT,
      modified_at: AT,
      ...fields,
    });
  }

  edge(from: string, to: string, fields: Fields = {}): string {
    const ends = { from_item_id: idOf(from), to_item_id: idOf(to) };
    return this.#add("dependencies", { ...ends, type: "BLOCKS", created_at: AT, ...fields });
  }

  move(itemId: string, fields: Fields = {}): string {
    return this.#add("role_transitions", {
      item_id: idOf(itemId),
      from_role: "queue",
      to_role: "work",
      trigger: "start",
      transitioned_at: AT,
      ...fields,
    });
  }

  config(rootId: string, text: string, fields: Fields = {}): string {
    const root_item_id = idOf(rootId);
    return this.#add("project_config", {
      root_item_id,
      config_yaml: text,
      fingerprint: "0".repeat(64),
      updated_at: AT,
      ...fields,
    });
  }

  plan(rootId: string, fields: Fields = {}): string {
    return this.#add("plan_documents", {
      root_item_id: idOf(rootId),
      slug: "plan",
      body: "# Plan",
      content_hash: "0".repeat(64),
      created_at: AT,
      modified_at: AT,
      ...fields,
    });
  }

  lease(itemId: string, key: string): string {
    const times = { acquired_at: AT, expires_at: AT, original_acquired_at: AT };
    return this.#add("resource_leases", { resource_key: key, holder_item_id: idOf(itemId), ...times });
  }

  /** Items know their root, each its own. */
  stampRoots(items: readonly { readonly id: string; readonly root: string }[]): void {
    const stamp = this.#database.prepare("update work_items set root_id = ? where id = ?");
    for (const { id, root } of items) stamp.run(idOf(root), idOf(id));
  }

  /** Every row of a table, ids as text. */
  rows(table: string): Record<string, unknown>[] {
    return this.#database
      .prepare(`select * from ${table} order by rowid`)
      .all()
      .map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, shown(value)])));
  }

  save(): void {
    this.#database.exec("commit; begin");
  }

  close(): void {
    this.#database.close();
  }

  #add(table: string, fields: Fields): string {
    const id = randomBytes(16);
    this.#insert(table, { id, ...fields });
    return shown(fields["id"] ?? id) as string;
  }

  #insert(table: string, fields: Fields): void {
    const columns = Object.keys(fields);
    this.#database
      .prepare(
        `insert into ${table} (${columns.map((one) => `"${one}"`).join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      )
      .run(...Object.values(fields));
  }
}

/** An id as its tables hold it. */
export function idOf(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

function shown(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const hex = Buffer.from(value).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
