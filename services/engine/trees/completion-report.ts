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

export function createCompletionReport(
  deps: Pick<EngineDeps, "settings">,
  trigger: string,
  members: readonly TreeMemberRow[],
): CompletionReport {
  return new Report(deps, trigger, members);
}

class Report implements CompletionReport {
  readonly #onCancelled: "hold" | "release";
  readonly #trigger: string;
  readonly #ancestorsOf: ReadonlyMap<string, readonly string[]>;
  readonly #results: CompletedItem[] = [];
  /** Items of the set that are still open. */
  readonly #left = new Set<string>();
  readonly #closedByCascade = new Set<string>();
  /** Outside of the set. */
  readonly #cascaded = new Map<string, Named & Pick<CascadeEvent, "targetRole">>();
  readonly #unblocked = new Map<string, Named>();

  constructor(deps: Pick<EngineDeps, "settings">, trigger: string, members: readonly TreeMemberRow[]) {
    this.#onCancelled = deps.settings.onCancelled;
    this.#trigger = trigger;
    this.#ancestorsOf = new Map(members.map(({ id, ancestors }) => [id, ancestors]));
  }

  unknown(ref: string, error: MusterError): void {
    this.#results.push({ itemId: ref, applied: false, ...errorOf(error) });
  }

  /** With the last of its children in this call, or before the call came. */
  closed(member: TreeMemberRow): void {
    if (this.#closedByCascade.has(member.id))
      this.#push(member, { applied: true, trigger: this.#trigger, cascaded: true, newRole: "terminal" });
    else this.#skip(member, CLOSED);
  }

  add(member: TreeMemberRow, outcome: SubmittedOutcome): void {
    if (outcome.kind === "applied" || outcome.kind === "replayed") {
      this.#follow(outcome.answer);
      const replayed = outcome.kind === "replayed" ? { replayed: true } : {};
      const label = outcome.answer["statusLabel"];
      const labelled = typeof label === "string" ? { statusLabel: label } : {};
      const done = { applied: true, trigger: this.#trigger, newRole: "terminal" } as const;
      this.#push(member, { ...done, ...labelled, ...replayed });
    } else if (outcome.kind === "refused") this.#refuse(member, outcome);
    else this.#push(member, { applied: false, ...errorOf(errorIn(outcome, member.id)) });
  }

  answer(): CompleteTreeOutput {
    const results = this.#results;
    const skipped = results.filter((one) => one.skipped === true).length;
    const completed = results.filter((one) => one.applied).length;
    const gateFailures = results.filter((one) => one.gateErrors !== undefined).length;
    const total = results.length;
    const failed = total - completed - skipped - gateFailures;
    const parents = [...this.#cascaded.values()].slice(0, NAMED_MAX);
    const freed = [...this.#unblocked.values()].slice(0, NAMED_MAX);
    return {
      ...fitResults(results),
      summary: { total, completed, skipped, gateFailures, failed },
      ...(parents.length === 0 ? {} : { cascaded: parents }),
      ...(freed.length === 0 ? {} : { unblockedItems: freed }),
    };
  }

  #push({ id, title }: TreeMemberRow, result: Omit<CompletedItem, "itemId" | "title">): void {
    if (!result.applied && result.skippedReason !== CLOSED) this.#left.add(id);
    this.#results.push({ itemId: id, title, ...result });
  }

  #skip(member: TreeMemberRow, skippedReason: string): void {
    this.#push(member, { applied: false, skipped: true, skippedReason });
  }

  #follow(answer: Readonly<Record<string, unknown>>): void {
    for (const event of (answer["cascadeEvents"] ?? []) as readonly CascadeEvent[]) {
      const { itemId, title, targetRole, applied } = event;
      if (!applied || targetRole !== "terminal") continue;
      if (this.#ancestorsOf.has(itemId)) this.#closedByCascade.add(itemId);
      else this.#cascaded.set(itemId, { itemId, title, targetRole });
    }
    for (const { itemId, title } of (answer["unblockedItems"] ?? []) as readonly Named[])
      if (!this.#ancestorsOf.has(itemId)) this.#unblocked.set(itemId, { itemId, title });
  }

  #refuse(member: TreeMemberRow, { refusal, blockers }: Refused): void {
    if (refusal.code === "invalid_transition" && refusal.from === "terminal") {
      this.closed(member);
      return;
    }
    if (refusal.code === "invalid_transition" && refusal.from === "blocked") {
      this.#skip(member, "item is blocked");
      return;
    }
    const element = refusalElement(member.id, this.#trigger, refusal, blockers, this.#onCancelled);
    if (this.#isInSet(refusal, member.id, element["blockers"])) {
      this.#skip(member, "dependency gate failed");
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
    this.#push(member, {
      ...(shown as Omit<CompletedItem, "itemId">),
      ...(gateErrors === null ? {} : { gateErrors }),
    });
  }

  /** Does it stand against an item only that others of the set are still open? */
  #isInSet(refusal: AdvanceRefusal, id: string, blockers: unknown): boolean {
    if (refusal.code === "dependency_blocked") {
      const open = (blockers ?? []) as readonly { readonly fromItemId: string }[];
      return open.length > 0 && open.every(({ fromItemId }) => this.#left.has(fromItemId));
    }
    return (
      refusal.code === "open_children" &&
      [...this.#left].some((one) => this.#ancestorsOf.get(one)?.includes(id))
    );
  }
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
