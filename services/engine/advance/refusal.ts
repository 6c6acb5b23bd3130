/** Refused transitions as callers read them: what stands against it, and what to do. Never who. */
import { isSatisfied } from "../../core/edges.ts";
import type { AdvanceRefusal } from "../../core/advance.ts";
import type { Outcome, Role } from "../../core/roles.ts";
import type { NoteSpec } from "../../core/schemas/item-schema.ts";
import type { IndependenceFinding } from "../../core/schemas/note-gate.ts";
import type { BlockerRow } from "../../../db/stores/item-store.ts";
import { errorBody, fault, type MusterError } from "../../contract/errors.ts";

export interface RefusedElement extends Record<string, unknown> {
  readonly itemId: string;
  readonly trigger: string;
  readonly applied: false;
}

export function refusedElement(
  itemId: string,
  trigger: string,
  error: MusterError,
  extra: Readonly<Record<string, unknown>> = {},
): RefusedElement {
  const body = errorBody(error);
  return {
    itemId,
    trigger,
    applied: false,
    error: body.message,
    errorCode: body.code,
    errorKind: body.kind,
    hint: body.hint,
    ...(body.retryAfterMs === undefined ? {} : { retryAfterMs: body.retryAfterMs }),
    ...(body.details === undefined ? {} : { details: body.details }),
    ...extra,
  };
}

export function refusalElement(
  itemId: string,
  trigger: string,
  refusal: AdvanceRefusal,
  blockers: readonly BlockerRow[],
  onCancelled: "hold" | "release",
): RefusedElement {
  switch (refusal.code) {
    case "claim_lost":
      return refusedElement(
        itemId,
        trigger,
        fault("claim_lost", "your claim on this item has ended, and the item may be somebody else's by now"),
      );
    case "not_claim_holder":
      return refusedElement(
        itemId,
        trigger,
        fault(
          "not_claim_holder",
          "the item is claimed, and this call does not come from the claim's holder",
          {
            retryAfterMs: refusal.msLeft,
            ...(refusal.sameAgent
              ? {
                  hint: "A claim of your own name holds it: pass the workerId or the fence that the claim returned.",
                }
              : {}),
          },
        ),
        { contendedItemId: itemId },
      );
    case "item_dead":
      return refusedElement(itemId, trigger, fault("item_dead", "the item's attempts are used up"));
    case "invalid_transition":
      return refusedElement(itemId, trigger, fault("invalid_transition", refusal.message), {
        previousRole: refusal.from,
      });
    case "open_children":
      return refusedElement(
        itemId,
        trigger,
        fault("open_children", `${refusal.openChildren} of its children are still open`, {
          details: {
            openChildren: refusal.openChildren,
            ...(refusal.children === undefined ? {} : { children: refusal.children }),
          },
        }),
      );
    case "parent_closed":
      return refusedElement(
        itemId,
        trigger,
        fault("parent_closed", `the item ${refusal.parentId} above it is closed, and opens only by itself`, {
          hint: `Reopen ${refusal.parentId} first (trigger "reopen").`,
        }),
      );
    case "strange_credential":
      return refusedElement(itemId, trigger, strangeCredential(refusal));
    case "resource_unavailable":
      return contendedElement(itemId, trigger, refusal);
    case "gate_blocked":
      return gateElement(itemId, trigger, refusal);
    case "dependency_blocked":
      return blockedElement(itemId, trigger, refusal, blockers, onCancelled);
  }
}

function gateElement(
  itemId: string,
  trigger: string,
  { obstacle, from, to }: Extract<AdvanceRefusal, { code: "gate_blocked" }>,
): RefusedElement {
  const { missing, findings } = obstacle;
  const causes = [
    ...(missing.length === 0 ? [] : [`missing notes: ${missing.map((note) => note.key).join(", ")}`]),
    ...(findings.length === 0
      ? []
      : [`not independent: ${[...new Set(findings.map((finding) => finding.key))].join(", ")}`]),
  ];
  return refusedElement(itemId, trigger, fault("gate_blocked", causes.join("; ")), {
    previousRole: from,
    targetRole: to,
    ...(missing.length === 0 ? {} : { missingNotes: missing.map(missingNoteOf) }),
    ...(findings.length === 0 ? {} : { violations: findings.map(violationOf) }),
  });
}

/** What whoever has to write it needs. */
export function missingNoteOf(note: NoteSpec): Record<string, unknown> {
  return {
    key: note.key,
    ...(note.description === "" ? {} : { description: note.description }),
    ...(note.guidance === null ? {} : { guidance: note.guidance }),
    ...(note.skill === null ? {} : { skill: note.skill }),
  };
}

export function violationOf({
  key,
  seat,
  constraint,
  conflictingSeat,
}: IndependenceFinding): Record<string, unknown> {
  return {
    key,
    ...(seat === null ? {} : { seat }),
    constraint,
    ...(conflictingSeat === null ? {} : { conflictingSeat }),
  };
}

function strangeCredential({
  credential,
  declared,
}: Extract<AdvanceRefusal, { code: "strange_credential" }>): MusterError {
  const known = declared.join(", ");
  return fault(
    "validation_failed",
    `credentialRefs: "${credential}" is none of the resources that the item declares (${known})`,
  );
}

function contendedElement(
  itemId: string,
  trigger: string,
  { contended, position }: Extract<AdvanceRefusal, { code: "resource_unavailable" }>,
): RefusedElement {
  const { keys, retryAfterMs } = contended;
  return refusedElement(
    itemId,
    trigger,
    fault(
      "resource_unavailable",
      `it needs ${keys.join(", ")}, which ${keys.length === 1 ? "is" : "are"} taken`,
      {
        retryAfterMs,
      },
    ),
    { targetRole: "work", contendedResources: keys, ...(position === null ? {} : { position }) },
  );
}

function blockedElement(
  itemId: string,
  trigger: string,
  refusal: Extract<AdvanceRefusal, { code: "dependency_blocked" }>,
  blockers: readonly BlockerRow[],
  onCancelled: "hold" | "release",
): RefusedElement {
  const unsatisfied = blockers.filter((row) => !isRowSatisfied(row, onCancelled));
  return refusedElement(
    itemId,
    trigger,
    fault(
      "dependency_blocked",
      `${refusal.blockers} unsatisfied ${refusal.blockers === 1 ? "dependency" : "dependencies"}`,
    ),
    {
      targetRole: refusal.to,
      blockers: unsatisfied.map((row) => ({
        fromItemId: row.from_item,
        title: row.title,
        currentRole: row.role,
        requiredRole: row.unblock_at ?? "terminal",
        ...(row.outcome === "cancelled" ? { cancelled: true } : {}),
      })),
    },
  );
}

function isRowSatisfied(row: BlockerRow, onCancelled: "hold" | "release"): boolean {
  return isSatisfied(
    {
      threshold: (row.unblock_at ?? "terminal") as Role,
      onCancelled: (row.on_cancelled as "hold" | "release" | null) ?? onCancelled,
    },
    { role: row.role as Role, outcome: row.outcome as Outcome | null },
  );
}
