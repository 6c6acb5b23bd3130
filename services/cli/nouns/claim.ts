/** `muster claim …`: who holds what; taking, keeping and giving back; and what operators take back. */
import type { Command } from "commander";
import { EXIT } from "../../contract/errors.ts";
import type { ListClaimsOutput } from "../../contract/operations/list-claims.ts";
import { ExitError } from "../../runtime/exit.ts";
import { duration, oneLine, print, since, table } from "../output.ts";
import { bulk, call, destroys, does, lists, more, type Options, queryOf, setOf, show, verb } from "./noun.ts";

export function addClaimNoun(program: Command): void {
  const claim = program.command("claim").description("who holds what");
  lists(claim, "list", "list claims: who holds what, since when, until when")
    .option("--agent <id>", "of this agent")
    .option("--ancestor-id <id>", "within this subtree")
    .option("--lapsed", "only lapsed ones")
    .action(does(listClaims));
  verb(claim, "take", "claim an item, or the best one of the queue")
    .argument("[id]", "this item; without, the best one")
    .option("--tags <tags>", "of those with any of these tags (comma-separated)")
    .option("--ancestor-id <id>", "of those within this subtree")
    .option("--start", "also move it to work")
    .option("--ttl <seconds>", "how long it lasts without being renewed")
    .option("--worker-id <id>", "as which worker; without, the answer names a new one")
    .action(does(takeClaim));
  verb(claim, "refresh", "keep claims alive")
    .argument("<claims...>", "each as ITEM:FENCE")
    .option("--worker-id <id>", "as which worker")
    .action(does(refreshClaims));
  verb(claim, "release", "give claims back")
    .argument("<claims...>", "each as ITEM or ITEM:FENCE")
    .option("--worker-id <id>", "as which worker")
    .option("--requeue", "also put work back into the queue")
    .action(does(releaseClaims));
  destroys(claim, "revoke", "end claims; work goes back to the queue, and holders are told")
    .argument("[ids...]", "of these items")
    .option("--agent <id>", "of this agent")
    .option("--ancestor-id <id>", "within this subtree")
    .option("--lapsed", "only lapsed ones")
    .option("--all", "every claim there is")
    .option("--dry-run", "only count them")
    .action(does(revokeClaims));
}

async function listClaims(options: Options): Promise<void> {
  await show<ListClaimsOutput>(`/claims${queryOf(options)}`, options, (list) => {
    if (list.claims.length === 0) return "Nobody holds anything.";
    more(list, list.claims.length, options);
    const rows = list.claims.map((claim) => [
      claim.itemId.slice(0, 8),
      claim.role,
      claim.agent,
      since(claim.claimedAt),
      claim.lapsed ? "lapsed" : duration(claim.msLeft),
      String(claim.fence),
      oneLine(claim.title),
    ]);
    return table(["ITEM", "ROLE", "AGENT", "SINCE", "LEFT", "FENCE", "TITLE"], rows);
  });
}

async function takeClaim(options: Options, id: string | undefined): Promise<void> {
  const { json, start, ttl, workerId, ...selector } = options;
  const body = {
    ...(id === undefined ? { selector } : { itemId: id }),
    ...(start === true ? { start } : {}),
    ...(ttl === undefined ? {} : { ttlSeconds: Number(ttl) }),
    ...(workerId === undefined ? {} : { workerId }),
  };
  const claim = await call({ method: "POST", path: "/claims", body });
  print(json === true, claim, () =>
    [
      `${String(claim["itemId"])} is yours until ${String(claim["claimExpiresAt"])}`,
      `fence ${String(claim["fence"])}, worker ${String(claim["workerId"])}`,
    ].join("\n"),
  );
}

interface Kept {
  readonly itemId: string;
  readonly outcome: string;
  readonly error?: string;
}

async function refreshClaims(options: Options, claims: string[]): Promise<number> {
  const refreshes = claims.map((text) => {
    const { itemId, fence } = claimOf(text);
    if (fence === undefined) throw new ExitError(EXIT.usage, `${text} has no fence: write ITEM:FENCE.`);
    return { itemId, fence };
  });
  const answer = await call({
    method: "POST",
    path: "/claims/refresh",
    body: { refreshes, ...workerOf(options) },
  });
  return report(answer, answer["refreshes"] as readonly Kept[], options);
}

async function releaseClaims(options: Options, claims: string[]): Promise<number> {
  const requeue = options["requeue"] === true;
  const releases = claims.map((text) => ({ ...claimOf(text), ...(requeue ? { requeue } : {}) }));
  const answer = await call({
    method: "POST",
    path: "/claims/release",
    body: { releases, ...workerOf(options) },
  });
  return report(answer, answer["releases"] as readonly Kept[], options);
}

function workerOf({ workerId }: Options): { workerId?: string } {
  return typeof workerId === "string" ? { workerId } : {};
}

function claimOf(text: string): { itemId: string; fence?: number } {
  const [itemId = "", fence] = text.split(":");
  if (fence === undefined) return { itemId };
  if (!/^\d+$/.test(fence)) throw new ExitError(EXIT.usage, `${text} is no ITEM:FENCE: a fence is a number.`);
  return { itemId, fence: Number(fence) };
}

function report(answer: object, each: readonly Kept[], { json }: Options): number {
  print(json === true, answer, () =>
    table(
      ["ITEM", "OUTCOME", "WHY"],
      each.map((one) => [one.itemId.slice(0, 8), one.outcome, one.error ?? ""]),
    ),
  );
  return each.every(({ outcome }) => outcome === "success") ? EXIT.ok : EXIT.refused;
}

async function revokeClaims(options: Options, ids: string[]): Promise<number> {
  return await bulk(
    "/claims/revoke",
    setOf(ids, options, ["agent", "ancestorId", "lapsed"]),
    options,
    (count) => `End ${count} ${count === 1 ? "claim" : "claims"}?`,
  );
}
