/** `get_context`: one answer for one question: may it go on, where did we stop, what is stuck, who works for me, what do I need. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { briefBudget } from "../briefs.ts";
import { contextAnswer, renderContext } from "../contexts.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import {
  BRIEF_SIZE_DEFAULT_BYTES,
  CURSOR_LENGTH_MAX,
  TRANSITIONS_LIMIT_DEFAULT,
  TRANSITIONS_LIMIT_MAX,
} from "../limits.ts";

const MODES = ["item", "brief", "agent", "session-resume", "health-check"] as const;
type Mode = (typeof MODES)[number];

const shape = z
  .strictObject({
    mode: z.enum(MODES).optional().describe("Default: item with itemId, session-resume with since."),
    itemId: fields.itemRef.optional().describe("item, brief."),
    since: fields.instant.optional().describe("session-resume."),
    ancestorId: fields.itemRef.optional().describe("Only below it."),
    includeAncestors: fields.flag.optional(),
    agent: fields.agentName.optional().describe("Your actor.id. agent; item: would your start succeed."),
    workerId: fields.workerId.optional(),
    cursor: z.string().max(CURSOR_LENGTH_MAX).optional().describe("agent: from the last answer."),
    waitSeconds: fields.waitSeconds.optional().describe("agent: until something ends."),
    budgetBytes: briefBudget.optional(),
    limit: z.int().min(1).max(TRANSITIONS_LIMIT_MAX).optional(),
  })
  .superRefine(...crossField(rules));

type Shape = z.output<typeof shape>;

const FIELDS_OF: Readonly<Record<Mode, readonly (keyof Shape)[]>> = {
  item: ["itemId", "agent", "workerId", "includeAncestors"],
  brief: ["itemId", "budgetBytes"],
  agent: ["agent", "cursor", "waitSeconds", "limit"],
  "session-resume": ["since", "ancestorId", "includeAncestors", "limit"],
  "health-check": ["ancestorId", "includeAncestors"],
};

function modeOf(call: Readonly<Record<string, unknown>>): Mode | undefined {
  if (call.mode !== undefined) return MODES.find((one) => one === call.mode);
  if (call.itemId !== undefined) return "item";
  if (call.since !== undefined) return "session-resume";
  return call.agent === undefined ? "health-check" : "agent";
}

const NEEDED = { item: "itemId", brief: "itemId", agent: "agent", "session-resume": "since" } as const;

/** An argument that a mode would ignore is refused: nobody finds out otherwise that it had no effect. */
function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  const mode = modeOf(call);
  if (mode === undefined) return; // The field's own message says so.
  for (const [name, value] of Object.entries(call)) {
    if (name === "mode" || value === undefined || value === false) continue;
    if (FIELDS_OF[mode].includes(name as keyof Shape)) continue;
    const places = MODES.filter((one) => FIELDS_OF[one].includes(name as keyof Shape));
    if (places.length > 0) add([name], `does not go with mode ${mode}, but with ${places.join(", ")}`);
  }
  if (mode === "health-check") return;
  const needed = NEEDED[mode];
  if (call[needed] === undefined) add([needed], `is needed with mode ${mode}`);
}

export type AskItem = {
  readonly mode: "item";
  readonly itemId: string;
  readonly agent: string | undefined;
  readonly workerId: string | undefined;
  readonly includeAncestors: boolean;
};
export type AskBrief = { readonly mode: "brief"; readonly itemId: string; readonly budgetBytes: number };
export type AskAgent = {
  readonly mode: "agent";
  readonly agent: string;
  readonly cursor: string | null;
  readonly waitSeconds: number;
  readonly limit: number;
};
export type AskSession = {
  readonly mode: "session-resume";
  readonly since: Date;
  readonly ancestorId: string | undefined;
  readonly includeAncestors: boolean;
  readonly limit: number;
};
export type AskHealth = {
  readonly mode: "health-check";
  readonly ancestorId: string | undefined;
  readonly includeAncestors: boolean;
};
/** A parsed call. */
export type GetContextInput = AskItem | AskBrief | AskAgent | AskSession | AskHealth;
export type GetContextRequest = z.input<typeof shape>;

const ENDED_LIMIT_DEFAULT = 50;

const input = shape.transform((call): GetContextInput => {
  // Nothing is empty where it counts: see the rules.
  const { itemId = "", agent = "", ancestorId, includeAncestors = false, limit } = call;
  const mode = modeOf(call) ?? "health-check";
  switch (mode) {
    case "item":
      return { mode, itemId, agent: call.agent, workerId: call.workerId, includeAncestors };
    case "brief":
      return { mode, itemId, budgetBytes: call.budgetBytes ?? BRIEF_SIZE_DEFAULT_BYTES };
    case "agent": {
      const { cursor = null, waitSeconds = 0 } = call;
      return { mode, agent, cursor, waitSeconds, limit: limit ?? ENDED_LIMIT_DEFAULT };
    }
    case "session-resume": {
      const { since = new Date(0) } = call;
      return { mode, since, ancestorId, includeAncestors, limit: limit ?? TRANSITIONS_LIMIT_DEFAULT };
    }
    case "health-check":
      return { mode, ancestorId, includeAncestors };
  }
});

export const getContext = defineOperation({
  name: "get_context",
  description:
    "A snapshot in one call. item: gate and claim of an item. brief: all that working on it needs. " +
    "agent: what you hold, what you dispatched (actor.parent) and what of it ended since cursor; waitSeconds waits for an end. " +
    "session-resume: what happened since. health-check: active, blocked and stalled items.",
  input,
  output: contextAnswer,
  annotations: readsOnly("Get context"),
  capability: "read",
  toolsets: ["worker", "orchestrator"],
  mcp: true,
  render: renderContext,
});
