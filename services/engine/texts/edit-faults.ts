/** Refusals of edits by anchor and of undoing, in words that tell what to send instead. */
import { fault, type MusterError } from "../../contract/errors.ts";
import {
  applyEdits,
  type EditVerdict,
  type TextEdit,
  undoEdits,
  type AppliedEdit,
} from "../../core/texts/edit-text.ts";

export interface EditedText {
  readonly text: string;
  readonly applied: readonly AppliedEdit[];
}

/** @throws patch_anchor_missing, patch_anchor_ambiguous: nothing was applied then */
export function editText(text: string, edits: readonly TextEdit[], version: number): EditedText {
  const verdict = applyEdits(text, edits);
  if (verdict.kind === "edited") return verdict;
  throw anchorFault(verdict, version);
}

function anchorFault(verdict: Exclude<EditVerdict, { kind: "edited" }>, version: number): MusterError {
  const { index } = verdict;
  if (verdict.kind === "missing") {
    return fault("patch_anchor_missing", `the anchor of edit ${index} does not occur in version ${version}`, {
      details: { edit: index, version },
    });
  }
  const lines = verdict.lines.join(", ");
  return fault(
    "patch_anchor_ambiguous",
    `the anchor of edit ${index} occurs more than once: lines ${lines}`,
    {
      details: { edit: index, version, lines: verdict.lines },
    },
  );
}

/** @throws undo_conflict if what was written, or what is next to it, is not there any more */
export function undoText(text: string, edits: readonly AppliedEdit[], version: number): EditedText {
  const verdict = undoEdits(text, edits);
  if (verdict.kind === "undone") return verdict;
  throw fault(
    "undo_conflict",
    `what version ${version} wrote was edited since, so it cannot be taken back alone`,
    { details: { version } },
  );
}

/** @throws version_conflict if the text is not at the version that the caller expects */
export function requireVersion(
  expected: number | undefined,
  actual: number,
  changedAt: Date | null,
  subject: string,
): void {
  if (expected === undefined || expected === actual) return;
  throw fault("version_conflict", `${subject} is at version ${actual}, not at the expected ${expected}`, {
    details: { expected, actual, ...(changedAt === null ? {} : { changedAt: changedAt.toISOString() }) },
  });
}

/** How many versions that landed in between an answer names. */
export const INTERVENING_MAX = 20;
