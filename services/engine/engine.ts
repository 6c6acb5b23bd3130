/**
 * The use cases of Muster behind one door. Both MCP and REST parse a request with
 * the contract and call {@link Engine.execute}; neither touches a table.
 */
import type { MusterError } from "../contract/errors.ts";
import type { Access } from "./access.ts";
import type { CallRecord } from "./audit/call-record.ts";
import type { EventFeed } from "./events/event-feed.ts";

/** Who is calling, as far as the transport knows. The stated actor is part of the input. */
export interface Caller {
  /** What it may do and see. */
  readonly access: Access;
  /** Principal of the credential, or null while the door is open to this machine's user. */
  readonly credential: string | null;
  /** The transport's session (a verified `Mcp-Session-Id`, a stdio process), or null. */
  readonly session: string | null;
  /** What the client calls itself. Recorded, never trusted. */
  readonly client: { readonly name: string; readonly version: string } | null;
  /** Correlates log lines; not the idempotency key. */
  readonly requestId: string;
  /** Aborted when the caller is gone: a wait ends, a commit stands. */
  readonly signal: AbortSignal;
  /** Where the engine keeps its record of a call that changes something; doors leave it out. */
  readonly record?: CallRecord;
}

export interface Engine {
  /** What has happened, for those who follow it. */
  readonly events: EventFeed;
  /**
   * Runs one operation on an input that the contract has parsed.
   * @throws MusterError with a code of the error table. Nothing was changed then.
   */
  execute(name: string, input: unknown, caller: Caller): Promise<Record<string, unknown>>;
  /** Puts a refusal on record that a door has made by itself, before any operation ran. */
  noteRefusal(
    operation: string,
    caller: Pick<Caller, "credential" | "requestId" | "session">,
    error: MusterError,
  ): void;
  /** Ends what lapsed for longer than its grace; what a sweep loop calls. Returns how many claims it freed. */
  sweep(signal: AbortSignal): Promise<SweepReport>;
  /** Milliseconds since anybody swept, in any process; null if nobody ever did. */
  sweepAgeMs(): Promise<number | null>;
  /** Lets go of a little of what is older than its window; what a retention loop calls, again while there is more. */
  retain(signal: AbortSignal): Promise<RetainReport>;
  /** Fires what is due: what a wake-up loop calls, again at once while there is more. */
  fireDue(signal: AbortSignal): Promise<FireReport>;
  /** Answers waiting claims with an empty result, ends streams of events, and lets nobody wait any more. */
  drain(): void;
  close(): Promise<void>;
}

export interface SweepReport {
  readonly freed: number;
  readonly requeued: number;
  readonly dead: number;
  /** True when the batch was full: call again at once. */
  readonly more: boolean;
}

export interface FireReport {
  readonly reminders: number;
  /** Steps of schedules: instants that ran, were left out, or were refused. */
  readonly schedules: number;
  /** True when the batch was full: call again at once. */
  readonly more: boolean;
}

export interface RetainReport {
  readonly deleted: number;
  /** True when there is more: call again, and let others have the database in between. */
  readonly more: boolean;
}
