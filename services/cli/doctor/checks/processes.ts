/** Processes of different versions, or with different configuration files, on one database. */
import { fault, type Finding, type Patient, well } from "../finding.ts";
import type { ServingProcess } from "../../../engine/facts.ts";

const CHECK = "processes";

export async function lookAtProcesses({ diagnosis }: Patient): Promise<Finding> {
  const processes = await diagnosis.processes();
  const versions = groupsOf(processes, ({ version }) => version);
  const configs = groupsOf(processes, ({ config }) => config?.slice(0, 12) ?? "none");
  const mixed = [
    ...(versions.size > 1 ? [`versions: ${describe(versions)}`] : []),
    ...(configs.size > 1 ? [`configuration files: ${describe(configs)}`] : []),
  ];
  if (mixed.length > 0) {
    const mend =
      "Bring all to one version and give all the same MUSTER_CONFIG; while a new version rolls out this passes by itself.";
    return fault(CHECK, `mixed ${mixed.join("; ")}`, mend);
  }
  if (processes.length === 0) return well(CHECK, "none is running");
  const [version] = versions.keys();
  return well(CHECK, `${processes.length} running, all of version ${version ?? "?"}, configured alike`);
}

type Groups = ReadonlyMap<string, readonly ServingProcess[]>;

function groupsOf(processes: readonly ServingProcess[], by: (one: ServingProcess) => string): Groups {
  return Map.groupBy(processes, by);
}

function describe(groups: Groups): string {
  return [...groups]
    .map(([name, members]) => `${name} (${members.map((one) => `${one.kind} ${one.pid}`).join(", ")})`)
    .join(", ");
}
