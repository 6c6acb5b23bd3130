/** What a check of the doctor says, and what it looks with. */
import type { Diagnosis } from "../../engine/facts.ts";
import { withoutCredentials } from "../../runtime/redact.ts";

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** How to mend it. */
  readonly mend?: string;
}

export interface Patient {
  readonly diagnosis: Diagnosis;
  /** Rejects when the database does not answer. */
  readonly reach: (signal: AbortSignal) => Promise<void>;
  /** Rejects when the schema is missing, old or newer. */
  readonly checkSchema: () => Promise<void>;
  /** Mend what the doctor can mend itself. */
  readonly repair: boolean;
}

export type CheckFunc = (patient: Patient) => Promise<Finding>;

export function well(check: string, detail: string): Finding {
  return { check, ok: true, detail };
}

export function fault(check: string, detail: string, mend: string): Finding {
  return { check, ok: false, detail, mend };
}

/** Why something failed, without the password that may be in an address. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}

export function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
