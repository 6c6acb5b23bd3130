/** What became of every item of a tree, told apart: done, skipped since it had to be, and refused. */
import type { TreeMemberRow } from "../../../db/stores/tree-store.ts";
import { errorBody, fault, type MusterError } from "../../contract/errors.ts";
import type { CascadeEvent } from "../../contract/operations/advance-item.ts";
import type { CompletedItem, CompleteTreeOutput } from "../../contract/operations/complete-tree.ts";
import type { AdvanceRefusal } from "../../core/advance.ts";
import { refusalElement } from "../advance/refusal.ts";
import type { TransitionOutcome } from "../advance/transition-call.ts";
import type { EngineDeps } from "../deps.ts";
import { fitPage, PAGE_SIZE_MAX_BYTES, sizeOf } from "../queries/fit-page.ts";

export type SubmittedOutcome = TransitionOutcome | { readonly kind: "failed"; readonly error: MusterError };

export interface CompletionReport {
  /** Something that is named and not there. */
  unknown(ref: string, error: MusterError): void;
  /** It was found closed. */
  closed(member: TreeMemberRow): void;
  add(member: TreeMemberRow, outcome: SubmittedOutcome): void;
  answer(): CompleteTreeOutput;
}

type Refused = Extract<TransitionOutcome, { kind: "refused" }>;
type Named = { readonly itemId: string; readonly title: string };

/** Of parents and items outside of the set, so many are named. */
const NAMED_MAX = 50;

// oxlint-disable-next-line max-lines-per-function -- one report: its parts share what they have seen
export function createCompletionReport(
  deps: Pick<EngineDeps, "settings">,
  trigger: string,
  members: readonly TreeMemberRow[],
): CompletionReport {
  const inSet = new Set(members.map(({ id }) => id));
  const ancestorsOf = new Map(members.map(({ id, ancestors }) => [id, ancestors]));
  const results: CompletedItem[] = [];
  /** Items of the set that are still open. */
  const left = new Set<string>();
  const closedByCascade = new Set<string>();
  const cascaded = new Map<string, Named & Pick<CascadeEvent, "targetRole">>();
  const unblocked = new Map<string, Named>();

  const push = ({ id, title }: TreeMemberRow, result: Omit<CompletedItem, "itemId" | "title">): void => {
    if (!result.applied && result.skippedReason !== CLOSED) left.add(id);
    results.push({ itemId: id, title, ...result });
  };
  const skip = (member: TreeMemberRow, skippedReason: string): void =>
    push(member, { applied: false, skipped: true, skippedReason });

  /** With the last of its children in this call, or before the call came. */
  const closed = (member: TreeMemberRow): void => {
    if (closedByCascade.has(member.id))
      push(member, { applied: true, trigger, cascaded: true, newRole: "terminal" });
    else skip(member, CLOSED);
  };

  const followed = (answer: Readonly<Record<string, unknown>>): void => {
    for (const event of (answer["cascadeEvents"] ?? []) as readonly CascadeEvent[]) {
      const { itemId, title, targetRole, applied } = event;
      if (!applied || targetRole !== "terminal") continue;
      if (inSet.has(itemId)) closedByCascade.add(itemId);
      else cascaded.set(itemId, { itemId, title, targetRole });
    }
    for (const { itemId, title } of (answer["unblockedItems"] ?? []) as readonly Named[])
      if (!inSet.has(itemId)) unblocked.set(itemId, { itemId, title });
  };

  const refuse = (member: TreeMemberRow, { refusal, blockers }: Refused): void => {
    if (refusal.code === "invalid_transition" && refusal.from === "terminal") {
      closed(member);
      return;
    }
    if (refusal.code === "invalid_transition" && refusal.from === "blocked") {
      skip(member, "item is blocked");
      return;
    }
    const element = refusalElement(member.id, trigger, refusal, blockers, deps.settings.onCancelled);
    if (isInSet(refusal, member.id, element["blockers"])) {
      skip(member, "dependency gate failed");
      return;
    }
    const {
      itemId: _,
      trigger: __,
      previousRole: ___,
      targetRole: ____,
      missingNotes: _____,
      ...shown
    } = element;
    const gateErrors = gateErrorsOf(refusal);
    push(member, {
      ...(shown as Omit<CompletedItem, "itemId">),
      ...(gateErrors === null ? {} : { gateErrors }),
    });
  };

  /** Does it stand against an item only that others of the set are still open? */
  const isInSet = (refusal: AdvanceRefusal, id: string, blockers: unknown): boolean => {
    if (refusal.code === "dependency_blocked") {
      const open = (blockers ?? []) as readonly { readonly fromItemId: string }[];
      return open.length > 0 && open.every(({ fromItemId }) => left.has(fromItemId));
    }
    return refusal.code === "open_children" && [...left].some((one) => ancestorsOf.get(one)?.includes(id));
  };

  return {
    unknown(ref, error) {
      results.push({ itemId: ref, applied: false, ...errorOf(error) });
    },
    closed,
    add(member, outcome) {
      if (outcome.kind === "applied" || outcome.kind === "replayed") {
        followed(outcome.answer);
        const replayed = outcome.kind === "replayed" ? { replayed: true } : {};
        const label = outcome.answer["statusLabel"];
        const labelled = typeof label === "string" ? { statusLabel: label } : {};
        push(member, { applied: true, trigger, newRole: "terminal", ...labelled, ...replayed });
      } else if (outcome.kind === "refused") refuse(member, outcome);
      else push(member, { applied: false, ...errorOf(errorIn(outcome, member.id)) });
    },
    answer() {
      const skipped = results.filter((one) => one.skipped === true).length;
      const completed = results.filter((one) => one.applied).length;
      const gateFailures = results.filter((one) => one.gateErrors !== undefined).length;
      const total = results.length;
      const failed = total - completed - skipped - gateFailures;
      const parents = [...cascaded.values()].slice(0, NAMED_MAX);
      const freed = [...unblocked.values()].slice(0, NAMED_MAX);
      return {
        ...fitResults(results),
        summary: { total, completed, skipped, gateFailures, failed },
        ...(parents.length === 0 ? {} : { cascaded: parents }),
        ...(freed.length === 0 ? {} : { unblockedItems: freed }),
      };
    },
  };
}

const CLOSED = "already terminal";

/** What stands against an item in its schema, one line each; null if it is something else. */
function gateErrorsOf(refusal: AdvanceRefusal): string[] | null {
  if (refusal.code !== "gate_blocked") return null;
  const { missing, findings } = refusal.obstacle;
  return [
    ...missing.map(({ key }) => `missing: ${key}`),
    ...new Set(findings.map(({ key }) => `not independent: ${key}`)),
  ];
}

function errorIn(outcome: Exclude<SubmittedOutcome, Refused>, id: string): MusterError {
  if ("error" in outcome) return outcome.error;
  return outcome.kind === "gone"
    ? fault("idempotency_target_gone", `${id} was deleted after this transition`)
    : fault("item_not_found", `no item has the id ${id}`);
}

function errorOf(error: MusterError): Omit<CompletedItem, "itemId" | "applied"> {
  const { message, code, kind, hint, retryAfterMs } = errorBody(error);
  return {
    error: message,
    errorCode: code,
    errorKind: kind,
    hint,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** In the order of work; of a long answer, first what did not go as it was asked for. */
function fitResults(results: readonly CompletedItem[]): Pick<CompleteTreeOutput, "results" | "omitted"> {
  const budget = PAGE_SIZE_MAX_BYTES - 12_000;
  if (sizeOf(results) <= budget) return { results: [...results] };
  const weight = ({ applied, skipped }: CompletedItem): number => (applied ? 2 : skipped === true ? 1 : 0);
  const kept = fitPage(
    results.toSorted((a, b) => weight(a) - weight(b)),
    budget,
  );
  return { results: kept, omitted: results.length - kept.length };
}
