/** `muster lease …`: who has which resource, who had it, and taking it away. */
import type { Command } from "commander";
import type { ListLeaseHistoryOutput } from "../../contract/operations/list-lease-history.ts";
import type { ListLeasesOutput } from "../../contract/operations/list-leases.ts";
import { oneLine, print, since, table } from "../output.ts";
import { call, confirm, destroys, does, lists, more, type Options, queryOf, show } from "./noun.ts";

export function addLeaseNoun(program: Command): void {
  const lease = program.command("lease").description("holds on resources");
  lists(lease, "list", "list which item has which resource, since when, until when")
    .option("--key <resource>", "this resource")
    .option("--ancestor-id <id>", "of items within this subtree")
    .action(does(listLeases));
  lists(lease, "history", "list which item had which resource when, the latest first")
    .option("--key <resource>", "this resource")
    .option("--item-id <id>", "this item, deleted or not (full id)")
    .option("--at <instant>", "who had it at this instant (ISO 8601)")
    .action(does(listHistory));
  destroys(lease, "release", "take a resource away from whoever has it; the items stay in work")
    .argument("<resource>", "its key, slashes and all")
    .action(does(release));
}

async function listLeases(options: Options): Promise<void> {
  await show<ListLeasesOutput>(`/resources/leases${queryOf(options)}`, options, (list) => {
    if (list.leases.length === 0) return "No resource is taken.";
    more(list, list.leases.length, options);
    const rows = list.leases.map((one) => [
      one.resourceKey,
      one.mode,
      one.holderItemId.slice(0, 8),
      since(one.acquiredAt),
      one.expiresAt,
      oneLine(one.title),
    ]);
    return table(["RESOURCE", "MODE", "ITEM", "SINCE", "UNTIL", "TITLE"], rows);
  });
}

async function listHistory(options: Options): Promise<void> {
  const path = `/resources/leases/history${queryOf(options)}`;
  await show<ListLeaseHistoryOutput>(path, options, (list) => {
    if (list.intervals.length === 0) return "Nobody had it.";
    more(list, list.intervals.length, options);
    const rows = list.intervals.map((one) => [
      one.resourceKey,
      one.holderItemId.slice(0, 8),
      one.acquiredAt,
      one.releasedAt ?? "",
      one.releaseReason ?? "has it",
      oneLine(one.detail ?? ""),
    ]);
    return table(["RESOURCE", "ITEM", "FROM", "TO", "ENDED", "WHY"], rows);
  });
}

async function release(options: Options, key: string): Promise<void> {
  await confirm(`Take ${key} away from whoever has it?`, options);
  const path = `/resources/leases/${key.split("/").map(encodeURIComponent).join("/")}`;
  const reason = encodeURIComponent(String(options["reason"]));
  const done = await call({ method: "DELETE", path: `${path}?reason=${reason}` });
  print(options["json"] === true, done, () => `${key}: taken from ${String(done["releasedCount"])}.`);
}
