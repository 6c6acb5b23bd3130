/** `muster agent …`: the agents that were seen, and letting one take nothing new. */
import type { Command } from "commander";
import type { DrainAgentOutput } from "../../contract/operations/drain-agent.ts";
import type { ListAgentsOutput } from "../../contract/operations/list-agents.ts";
import { oneLine, print, since, table } from "../output.ts";
import { call, confirm, destroys, does, lists, more, type Options, queryOf, show } from "./noun.ts";

export function addAgentNoun(program: Command): void {
  const agent = program.command("agent").description("the agents that were seen");
  lists(agent, "list", "list agents: when last seen, what they can do, and what they hold")
    .option("--holding", "only those that hold something")
    .option("--drained", "only those that may take nothing new")
    .option("--seen-after <instant>", "only those seen since (ISO 8601)")
    .action(does(listAgents));
  destroys(agent, "drain", "let an agent finish what it holds, and give it nothing new")
    .argument("<agent>", "its actor id")
    .option("--revoke-claims", "also end what it holds")
    .action(does(drain));
  destroys(agent, "undrain", "let a drained agent take items again")
    .argument("<agent>", "its actor id")
    .action(does((options: Options, name: string) => settle(name, "undrain", options)));
}

async function listAgents(options: Options): Promise<void> {
  await show<ListAgentsOutput>(`/agents${queryOf(options)}`, options, (list) => {
    if (list.agents.length === 0) return "No agent was seen yet.";
    more(list, list.agents.length, options);
    const rows = list.agents.map((agent) => [
      agent.agent,
      agent.kind ?? "",
      since(agent.lastSeenAt),
      agent.drainedAt === undefined ? "" : "drained",
      String(agent.claims),
      (agent.capabilities ?? []).join(","),
      (agent.holds ?? []).map((held) => oneLine(held.title, 30)).join(", "),
    ]);
    return table(["AGENT", "KIND", "SEEN", "", "CLAIMS", "CAN", "HOLDS"], rows);
  });
}

async function drain(options: Options, name: string): Promise<void> {
  const also = options["revokeClaims"] === true ? ", and end what it holds" : "";
  await confirm(`Give ${name} nothing new${also}?`, options);
  await settle(name, "drain", options);
}

async function settle(name: string, way: "drain" | "undrain", options: Options): Promise<void> {
  const { reason, revokeClaims, json } = options;
  const body = { reason, ...(revokeClaims === true ? { revokeClaims } : {}) };
  const path = `/agents/${encodeURIComponent(name)}/${way}`;
  const done = (await call({ method: "POST", path, body })) as unknown as DrainAgentOutput;
  print(json === true, done, () => {
    const state = done.drained ? "gets nothing new" : "may take items again";
    return `${done.agent} ${state}; it holds ${done.claims}.`;
  });
}
