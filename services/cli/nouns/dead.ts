/** `muster dead …`: items whose attempts are used up. */
import type { Command } from "commander";
import type { ListDeadOutput } from "../../contract/operations/list-dead.ts";
import { oneLine, since, table } from "../output.ts";
import { bulk, destroys, does, lists, more, type Options, queryOf, setOf, show } from "./noun.ts";

const FILTERS = ["ancestorId", "type", "tags"] as const;

export function addDeadNoun(program: Command): void {
  const dead = program.command("dead").description("items whose attempts are used up");
  filtered(lists(dead, "list", "list them, those that died last at the head")).action(does(listDead));
  for (const [name, description, word] of [
    ["replay", "put them back where they stood, with nothing counted against them", "Replay"],
    ["discard", "cancel them", "Cancel"],
  ] as const) {
    filtered(destroys(dead, name, description))
      .argument("[ids...]", "these items")
      .option("--all", "every dead item there is")
      .option("--dry-run", "only count them")
      .action(does((options: Options, ids: string[]) => settle(name, word, ids, options)));
  }
}

function filtered(command: Command): Command {
  return command
    .option("--ancestor-id <id>", "within this subtree")
    .option("--type <type>", "of this type")
    .option("--tags <tags>", "with any of these tags (comma-separated)");
}

async function listDead(options: Options): Promise<void> {
  await show<ListDeadOutput>(`/dead${queryOf(options)}`, options, (list) => {
    if (list.items.length === 0) return "Nothing is dead.";
    more(list, list.items.length, options);
    const rows = list.items.map((one) => [
      one.itemId.slice(0, 8),
      String(one.attempts),
      since(one.diedAt),
      oneLine(one.title, 40),
      oneLine(one.lastDetail ?? one.lastEndReason ?? ""),
    ]);
    return table(["ITEM", "ATTEMPTS", "DIED", "TITLE", "LAST"], rows);
  });
}

async function settle(
  way: "replay" | "discard",
  word: string,
  ids: string[],
  options: Options,
): Promise<number> {
  return await bulk(
    `/dead/${way}`,
    setOf(ids, options, FILTERS),
    options,
    (count) => `${word} ${count} dead ${count === 1 ? "item" : "items"}?`,
  );
}
