/** `muster config …`: what is configured, for all and for a project. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { EXIT } from "../../contract/errors.ts";
import { ExitError } from "../../runtime/exit.ts";
import { print } from "../output.ts";
import { call, destroys, confirm, does, type Options, queryOf, show, verb, watched } from "./noun.ts";

export function addConfigNoun(program: Command): void {
  const config = program.command("config").description("what is configured");
  watched(verb(config, "show", "show what is configured, in short"))
    .option("--root-id <id>", "as this project sees it")
    .action(does(showConfig));
  verb(config, "get", "print the configuration of a project")
    .argument("<root>", "its id")
    .action(does(getConfig));
  verb(config, "push", "give a project its configuration; broken text is refused")
    .argument("<root>", "its id")
    .argument("<file>", "YAML; - reads standard input")
    .option("--force", "also over a newer one")
    .action(does(pushConfig));
  destroys(config, "delete", "take a project's own configuration away")
    .argument("<root>", "its id")
    .action(does(deleteConfig));
}

async function showConfig(options: Options): Promise<void> {
  await show<Record<string, unknown>>(`/config${queryOf(options)}`, options, (config) =>
    Object.entries(config)
      .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join("\n"),
  );
}

async function getConfig({ json }: Options, root: string): Promise<void> {
  const config = await call({ path: `/roots/${root}/config` });
  print(json === true, config, () => textOf(config["configYaml"]).trimEnd());
}

async function pushConfig({ json, force }: Options, root: string, file: string): Promise<void> {
  const path = `/roots/${root}/config${force === true ? "?force=true" : ""}`;
  const done = await call({ method: "PUT", path, body: readText(file), contentType: "application/yaml" });
  print(json === true, done, () => `The configuration of ${root} is ${textOf(done["fingerprint"])}.`);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT.usage, `${file} cannot be read: ${cause}`, { cause: error });
  }
}

async function deleteConfig(options: Options, root: string): Promise<void> {
  await confirm(`Take the configuration of ${root} away?`, options);
  await call({ method: "DELETE", path: `/roots/${root}/config` });
  print(
    options["json"] === true,
    { rootId: root, deleted: true },
    () => `${root} has no configuration of its own.`,
  );
}
