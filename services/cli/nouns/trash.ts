/** `muster trash …`: what was deleted, and bringing it back. */
import type { Command } from "commander";
import { EXIT } from "../../contract/errors.ts";
import type { ListTrashOutput } from "../../contract/operations/list-trash.ts";
import { oneLine, print, say, since, table } from "../output.ts";
import { call, does, lists, more, type Options, queryOf, show, verb } from "./noun.ts";

export function addTrashNoun(program: Command): void {
  const trash = program.command("trash").description("what was deleted");
  lists(trash, "list", "list what can be brought back, the latest first")
    .option("--root-id <id>", "deleted from this root")
    .option("--restored", "also what was brought back already")
    .action(does(listTrash));
  verb(trash, "restore", "bring back what was deleted, with what went with it")
    .argument("<trashIds...>", "as the list names them")
    .action(does(restore));
}

async function listTrash(options: Options): Promise<void> {
  await show<ListTrashOutput>(`/trash${queryOf(options)}`, options, (list) => {
    if (list.entries.length === 0) return "The trash is empty.";
    more(list, list.entries.length, options);
    const rows = list.entries.map((one) => [
      one.trashId,
      String(one.items),
      since(one.deletedAt),
      one.restoredAt === undefined ? one.restorableUntil.slice(0, 10) : "restored",
      oneLine(one.title),
    ]);
    return table(["TRASH", "ITEMS", "DELETED", "UNTIL", "TITLE"], rows);
  });
}

interface Restored {
  readonly restored: number;
  readonly failed: number;
  readonly failures?: readonly { readonly id?: string; readonly error: string }[];
}

async function restore({ json }: Options, trashIds: string[]): Promise<number> {
  const answer = await call({ method: "POST", path: "/trash/restore", body: { trashIds } });
  const { restored, failed, failures = [] } = answer as unknown as Restored;
  print(json === true, answer, () => `${restored} items are back.`);
  for (const failure of json === true ? [] : failures) say(`${failure.id ?? ""}: ${failure.error}`);
  return failed > 0 ? EXIT.refused : EXIT.ok;
}
