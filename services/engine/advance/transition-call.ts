/** One transition on its way through a flush, and what came of it. */
import type { CallRecord } from "../audit/call-record.ts";
import type { IdempotencyRecord } from "../../../db/stores/idempotency-store.ts";
import type { BlockerRow } from "../../../db/stores/item-store.ts";
import { shownActor, shownVerification } from "../actors/verification.ts";
import type { ClaimCall, ClaimOutcome } from "../claims/claim-call.ts";
import type { MusterError } from "../../contract/errors.ts";
import type { Phase } from "../../core/schemas/item-schema.ts";
import { noteProgress, phaseOf } from "../../core/schemas/note-progress.ts";
import type { ItemState } from "../../core/state.ts";
import type { World } from "../../core/world.ts";
import { missingNoteOf, violationOf } from "./refusal.ts";
import type { AdvanceApplied, AdvanceRefusal, AdvanceRequest } from "../../core/advance.ts";

export interface BroughtNote {
  readonly key: string;
  readonly role: Phase;
  readonly body: string;
}

export interface TransitionCall {
  readonly request: AdvanceRequest;
  readonly record: IdempotencyRecord | null;
  /** The claim clock saw the holder of this fence die. */
  readonly deadFence: number | null;
  /** Written in the same transaction, if the transition applies. */
  readonly notes: readonly BroughtNote[];
  /** Claimed in the same transaction, if the transition applies. */
  readonly next: ClaimCall | null;
  /** The record of the call, written with the transition. */
  readonly audit?: CallRecord | undefined;
}

export type TransitionOutcome =
  | {
      readonly kind: "applied" | "replayed";
      readonly answer: Record<string, unknown>;
      /** What came of the claim that was sent along. */
      readonly next: ClaimOutcome | null;
    }
  | { readonly kind: "refused"; readonly refusal: AdvanceRefusal; readonly blockers: readonly BlockerRow[] }
  /** One of the notes that it brings may not be written. */
  | { readonly kind: "bad_note"; readonly error: MusterError }
  | { readonly kind: "not_found" }
  /** It was moved under this key, and deleted since. */
  | { readonly kind: "gone" };

export type Titled = (id: string) => string;

/** The answer for an applied transition, as it is stored and replayed. */
export function appliedAnswer(
  { request, notes }: TransitionCall,
  applied: AdvanceApplied,
  title: Titled,
  world: World,
): Record<string, unknown> {
  const { state } = applied;
  const actor = shownActor(request.by.actor);
  const verification = shownVerification(request.by.verification);
  const named = (id: string): { itemId: string; title: string } => ({ itemId: id, title: title(id) });
  return {
    itemId: state.id,
    trigger: request.trigger,
    applied: true,
    previousRole: applied.previousRole,
    newRole: state.role,
    ...(state.statusLabel === null ? {} : { statusLabel: state.statusLabel }),
    ...(request.summary === null ? {} : { summary: request.summary }),
    ...(actor === null ? {} : { actor }),
    ...(verification === null ? {} : { verification }),
    ...(state.claim === null ? {} : { fence: state.fence }),
    ...(applied.claimEnded ? { claimReleased: true } : {}),
    ...(state.availableAt === null ? {} : { availableAt: new Date(state.availableAt).toISOString() }),
    ...(state.dead ? { dead: true } : {}),
    ...(applied.lostLeases.length === 0 ? {} : { lostResources: applied.lostLeases }),
    ...(applied.cascades.length === 0
      ? {}
      : {
          cascadeEvents: applied.cascades.map(({ held, gateBlocked, ...event }) => ({
            ...event,
            title: title(event.itemId),
            ...(gateBlocked === undefined
              ? {}
              : { gateBlocked: true, missingNotes: gateBlocked.missing.map(missingNoteOf) }),
            ...(held === undefined ? {} : { heldByAnother: true }),
          })),
        }),
    ...(applied.unblocked.length === 0 ? {} : { unblockedItems: applied.unblocked.map(named) }),
    ...(applied.heldUp.length === 0 ? {} : { heldUpItems: applied.heldUp.map(named) }),
    ...(notes.length === 0 ? {} : { notesWritten: notes.map((note) => note.key) }),
    ...notesAhead(state, world),
    ...(applied.setAside.length === 0 ? {} : { setAside: applied.setAside }),
    ...(applied.findings.length === 0 ? {} : { violations: applied.findings.map(violationOf) }),
  };
}

/** What the phase that the item is in now asks for, and who should do it. */
function notesAhead(state: ItemState, world: World): Record<string, unknown> {
  const schema = world.schemaOf(state);
  const phase = phaseOf(state);
  const specs = phase === null ? [] : schema.notes.filter((note) => note.role === phase);
  if (phase === null || specs.length === 0) {
    const dispatch = phase === null ? undefined : schema.dispatch[phase];
    return { expectedNotes: [], ...(dispatch === undefined ? {} : { dispatch }) };
  }
  const filled = world.notesOf(state.id);
  const { next, filled: written, remaining, total } = noteProgress(schema, phase, filled);
  const dispatch = schema.dispatch[phase];
  return {
    expectedNotes: specs.map(({ key, role, required }) => ({ key, role, required, exists: filled.has(key) })),
    ...(next === null
      ? {}
      : { guidanceKey: next.key, ...(next.skill === null ? {} : { skillPointer: next.skill }) }),
    noteProgress: { filled: written, remaining, total },
    ...(dispatch === undefined ? {} : { dispatch }),
  };
}

/** Items whose titles the answer shows. */
export function mentioned(applied: AdvanceApplied): string[] {
  return [...applied.cascades.map((event) => event.itemId), ...applied.unblocked, ...applied.heldUp];
}
