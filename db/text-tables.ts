/** The tables of what items, notes and documents say, and said before. Columns are snake_case as in the schema. */
import type { Generated } from "kysely";
import type { DefaultInstant, Instant, Json, StoredActor, StoredVerification } from "./column-types.ts";

export interface NotesTable {
  id: string;
  item_id: string;
  key: string;
  role: "queue" | "work" | "review";
  body: Generated<string>;
  version: Generated<number>;
  created_at: DefaultInstant;
  modified_at: DefaultInstant;
  agent: string | null;
  session: string | null;
  actor: StoredActor;
  verification: StoredVerification;
  /** What an anchored edit replaced, with the text around it. */
  edits: Json<Record<string, unknown>[]> | null;
}

export interface NoteVersionsTable {
  item_id: string;
  key: string;
  version: number;
  note_id: string;
  role: "queue" | "work" | "review";
  body: string;
  at: Instant;
  agent: string | null;
  session: string | null;
  actor: StoredActor;
  verification: StoredVerification;
  edits: Json<Record<string, unknown>[]> | null;
}

export interface ItemVersionsTable {
  item_id: string;
  /** The one that the change made. */
  version: number;
  /** What the changed fields said before it. */
  before: Json<{ title?: string; summary?: string; description?: string | null }>;
  edits: Json<Record<string, unknown>[]> | null;
  at: DefaultInstant;
  agent: string | null;
  session: string | null;
  actor: StoredActor;
  verification: StoredVerification;
}

export interface PlanDocumentsTable {
  id: string;
  root_id: string;
  slug: string;
  body: string;
  content_hash: string;
  status: Generated<"pending" | "adopted">;
  adopted_by: string | null;
  created_at: DefaultInstant;
  modified_at: DefaultInstant;
  modified_by: string | null;
  actor: StoredActor;
  verification: StoredVerification;
}
