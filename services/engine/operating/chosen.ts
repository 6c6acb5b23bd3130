/**
 * The items of a bulk operation. A filter is resolved once, in a transaction of its own, and
 * kept under the call's key: a retry does what is left of the same set, not whatever matches
 * by then. Each item is then done by itself, so one that cannot be done stops no other.
 */
import type { Handle } from "../../../db/statement.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { BATCH_SIZE_MAX } from "../../contract/limits.ts";
import type { EngineDeps } from "../deps.ts";
import { resolveItem } from "../resolve-items.ts";
import { failureOf } from "../writing/element-failure.ts";
import { transact } from "../writing/transact.ts";
import { type Answered, once, type WriteCall } from "../writing/write-call.ts";
import type { Looker } from "../access.ts";

export interface Meant {
  readonly ids: readonly string[];
  /** How many there are in all; more than the ids when a filter means more than one call takes. */
  readonly total: number;
}

export interface BulkInput {
  readonly itemIds?: readonly string[] | undefined;
  readonly dryRun: boolean;
}

/** What a filter means, or which of the named items it fits: at most so many ids, and how many in all. */
export type FindFunc = (handle: Handle, max: number, named: readonly string[] | undefined) => Promise<Meant>;

export interface BulkDone<A> {
  readonly answers: readonly (A & { readonly title: string })[];
  readonly rest: {
    matched: number;
    failed: number;
    failures?: ElementFailure[];
    hasMore: boolean;
    dryRun?: boolean;
    replayed?: boolean;
  };
}

/** Does `work` to each item that the call means. A dry run only counts. */
export async function doToChosen<A extends { readonly itemId: string } & Readonly<Record<string, unknown>>>(
  deps: EngineDeps,
  call: WriteCall,
  input: BulkInput,
  find: FindFunc,
  work: (itemId: string, element: string) => Promise<Answered<A>>,
  caller: Looker,
): Promise<BulkDone<A>> {
  if (input.dryRun) {
    const { total } = await find(deps.db, 0, await knownAmong(deps.db, input.itemIds, caller));
    return {
      answers: [],
      rest: { matched: total, failed: 0, hasMore: total > BATCH_SIZE_MAX, dryRun: true },
    };
  }
  const { ids, total } = await choose(deps, call, input, find);
  const done: Answered<A>[] = [];
  const failures: ElementFailure[] = [];
  for (const [index, ref] of ids.entries()) {
    try {
      const resolved = await resolveItem(deps.db, ref, caller);
      if (!resolved.ok) throw resolved.error;
      done.push(await work(resolved.id, `i${index}`));
    } catch (error) {
      failures.push(failureOf(deps, index, ref, error));
    }
  }
  const titles = await findTitles(
    deps.db,
    done.map(({ answer }) => answer.itemId),
  );
  return {
    answers: done.map(({ answer }) => ({ ...answer, title: titles.get(answer.itemId) ?? "" })),
    rest: {
      matched: total,
      failed: failures.length,
      ...(failures.length === 0 ? {} : { failures }),
      hasMore: total > ids.length,
      ...(done.some((one) => one.replayed) ? { replayed: true } : {}),
    },
  };
}

async function knownAmong(
  handle: Handle,
  refs: readonly string[] | undefined,
  caller: Looker,
): Promise<string[] | undefined> {
  if (refs === undefined) return undefined;
  const resolved = await Promise.all(refs.map((ref) => resolveItem(handle, ref, caller)));
  return resolved.flatMap((one) => (one.ok ? [one.id] : []));
}

async function choose(
  deps: EngineDeps,
  call: WriteCall,
  { itemIds }: BulkInput,
  find: FindFunc,
): Promise<Meant> {
  if (itemIds !== undefined) return { ids: [...new Set(itemIds)], total: new Set(itemIds).size };
  const { answer } = await transact(deps, (tx) =>
    once(call, tx, "chosen", async () => ({
      answer: { ...(await find(tx, BATCH_SIZE_MAX, undefined)) },
      targetId: null,
    })),
  );
  return answer;
}
