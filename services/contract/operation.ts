/**
 * One entry of the registry of operations: the single place where a thing that
 * Muster can do is named. MCP tools, REST routes, the CLI and the reference docs
 * are all made from it, so that no two doors can disagree.
 */
import type { z } from "zod";

/** What a credential may be allowed to do. `admin` holds every other. Scopes of OAuth are `muster:<capability>`. */
export const CAPABILITIES = [
  "read",
  "write-items",
  "write-notes",
  "advance",
  "manage-dependencies",
  "write-config",
  "claim",
  "operate",
  "tokens",
  "admin",
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The part of the tool list that a client asks for with `?toolset=`. */
export type Toolset = "all" | "worker" | "orchestrator";

export interface Annotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** Tool name, for example `claim_item`. */
  readonly name: string;
  /** What the model reads: short, since every byte is paid for in every prompt. */
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations: Annotations;
  readonly capability: Capability;
  /** Where it depends on the input: everything that this call needs, instead of `capability`. */
  readonly capabilitiesFor?: (input: z.output<I>) => readonly Capability[];
  /** Toolsets, besides `all`, that list it. */
  readonly toolsets: readonly Toolset[];
  /** False for what only REST serves. */
  readonly mcp: boolean;
  /** Compact text that is enough to act on alone: ids, outcome, next step. Never a second copy of the payload. */
  readonly render: (output: z.output<O>) => string;
}

/** Everything that a credential must be allowed to do for this call; the input is a parsed one. */
export function capabilitiesNeeded(operation: Operation, input: unknown): readonly Capability[] {
  return operation.capabilitiesFor?.(input) ?? [operation.capability];
}
