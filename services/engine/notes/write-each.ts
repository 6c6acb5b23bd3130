/** The elements of a call that writes notes: one after the other, and what is left to write when all are done. */
import type { ItemContext, NoteFailure, WrittenNoteAnswer } from "../../contract/operations/manage-notes.ts";
import type { EngineDeps } from "../deps.ts";
import type { Answered } from "../writing/write-call.ts";
import { readItemContexts } from "./item-context.ts";
import { toFailure } from "./note-answers.ts";

interface Written {
  readonly written: WrittenNoteAnswer[];
  readonly failed: number;
  readonly failures?: NoteFailure[];
  readonly itemContext: Record<string, ItemContext>;
}

export async function writeEach<E extends { readonly itemId: string }>(
  deps: EngineDeps,
  elements: readonly E[],
  write: (element: E, index: number) => Promise<Answered<WrittenNoteAnswer>>,
): Promise<Written> {
  const written: WrittenNoteAnswer[] = [];
  const failures: NoteFailure[] = [];
  for (const [index, element] of elements.entries()) {
    try {
      const { answer, replayed } = await write(element, index);
      written.push(replayed ? { ...answer, replayed: true } : answer);
    } catch (error) {
      failures.push(toFailure(deps, index, element.itemId, error));
    }
  }
  const itemContext = await readItemContexts(deps, [...new Set(written.map((note) => note.itemId))]);
  return {
    written,
    failed: failures.length,
    ...(failures.length === 0 ? {} : { failures }),
    itemContext,
  };
}
