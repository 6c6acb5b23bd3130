/** `manage_reminders`: an instant at which an item asks for attention, until somebody acknowledges it. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer } from "../answers.ts";
import { type AddFault, crossField, refuseMisplaced } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, SNOOZE_MAX_SECONDS } from "../limits.ts";
import { fullInstant, reminder, REMINDER_STATES, reminderLine, reminderShape } from "../reminders.ts";
import { bounded } from "../rendering.ts";

const OPERATIONS = ["arm", "list", "rearm", "snooze", "disarm", "acknowledge"] as const;
type Operation = (typeof OPERATIONS)[number];

const shape = z
  .strictObject({
    operation: z.enum(OPERATIONS),
    itemId: fields.itemRef.optional().describe("arm, list."),
    reminderId: fields.fullId.optional(),
    remindAt: fullInstant.optional().describe("arm, rearm: RFC 3339 with zone."),
    forSeconds: z.int().min(1).max(SNOOZE_MAX_SECONDS).optional().describe("snooze."),
    ...reminderShape,
    state: z.enum(REMINDER_STATES).optional().describe("list."),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).optional(),
    offset: z.int().min(0).optional(),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

/** An argument that an operation would ignore is refused. */
const BELONGS: Readonly<Record<string, readonly Operation[]>> = {
  itemId: ["arm", "list"],
  reminderId: ["rearm", "snooze", "disarm", "acknowledge"],
  remindAt: ["arm", "rearm"],
  forSeconds: ["snooze"],
  note: ["arm"],
  toAgent: ["arm", "list"],
  toCapability: ["arm", "list"],
  state: ["list"],
  limit: ["list"],
  offset: ["list"],
};
/** What an operation cannot do without. */
const NEEDS: Readonly<Record<Operation, readonly string[]>> = {
  arm: ["itemId", "remindAt"],
  list: [],
  rearm: ["reminderId", "remindAt"],
  snooze: ["reminderId", "forSeconds"],
  disarm: ["reminderId"],
  acknowledge: ["reminderId"],
};

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  const operation = OPERATIONS.find((one) => one === call.operation);
  if (operation === undefined) return; // The field's own message says so.
  refuseMisplaced(call, operation, BELONGS, add);
  for (const name of NEEDS[operation]) {
    if (call[name] === undefined) add([name], `is missing; ${operation} needs it`);
  }
}

type Shape = z.output<typeof shape>;
type Common = Pick<Shape, "actor" | "workerId" | "requestId">;
export type ArmReminder = Common &
  Pick<Shape, "note" | "toAgent" | "toCapability"> & {
    readonly operation: "arm";
    readonly itemId: string;
    readonly remindAt: Date;
  };
export type ListReminders = Common &
  Pick<Shape, "itemId" | "toAgent" | "toCapability" | "state"> & {
    readonly operation: "list";
    readonly limit: number;
    readonly offset: number;
  };
export type ChangeReminder = Common & { readonly reminderId: string } & (
    | { readonly operation: "rearm"; readonly remindAt: Date }
    | { readonly operation: "snooze"; readonly forSeconds: number }
    | { readonly operation: "disarm" | "acknowledge" }
  );
/** A parsed call. */
export type ManageRemindersInput = ArmReminder | ListReminders | ChangeReminder;
export type ManageRemindersRequest = z.input<typeof shape>;

const input = shape.transform((call): ManageRemindersInput => {
  const { operation, actor, workerId, requestId } = call;
  const common: Common = { actor, workerId, requestId };
  // Never empty where they count: see the rules.
  const { itemId = "", reminderId = "", remindAt = new Date(0), forSeconds = 0 } = call;
  const { note, toAgent, toCapability, state } = call;
  switch (operation) {
    case "arm":
      return { ...common, operation, itemId, remindAt, note, toAgent, toCapability };
    case "list": {
      const { limit = LIST_LIMIT_DEFAULT, offset = 0 } = call;
      return { ...common, operation, itemId: call.itemId, toAgent, toCapability, state, limit, offset };
    }
    case "rearm":
      return { ...common, operation, reminderId, remindAt };
    case "snooze":
      return { ...common, operation, reminderId, forSeconds };
    case "disarm":
    case "acknowledge":
      return { ...common, operation, reminderId };
  }
});

const changed = reminder.extend({
  /** It is gone. */
  disarmed: z.boolean().optional(),
  replayed: z.boolean().optional(),
});
const list = answer({
  reminders: z.array(reminder),
  returned: z.int(),
  hasMore: z.boolean(),
  offset: z.int(),
});
const output = z.union([changed, list]);
export type ChangedReminderOutput = z.output<typeof changed>;
export type ListRemindersOutput = z.output<typeof list>;
export type ManageRemindersOutput = z.output<typeof output>;

function render(result: ManageRemindersOutput): string {
  if (!("reminders" in result)) {
    return `${result.disarmed === true ? "disarmed " : ""}${reminderLine(result)}`;
  }
  const { reminders, returned, hasMore, offset } = result;
  return bounded([
    `${returned} reminders${hasMore ? `; next page: offset ${offset + returned}` : ""}`,
    ...reminders.map(reminderLine),
  ]);
}

export const manageReminders = defineOperation({
  name: "manage_reminders",
  description:
    "Have an item ask for attention at an instant. Fired reminders head get_next_item and briefs until acknowledged.",
  input,
  output,
  annotations: writes("Manage reminders", { destructive: true }),
  capability: "write-notes",
  capabilitiesFor: ({ operation }) => [operation === "list" ? "read" : "write-notes"],
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
