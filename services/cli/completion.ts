/** `muster completion`: what a shell needs to complete nouns, verbs and options, made from the commands themselves. */
import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

interface Place {
  /** Nouns and verbs up to here: `claim list`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly name: string; readonly description: string }[];
}

/** Every command with what may follow it, the program itself first. */
function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const below = command.commands.filter((one) => one.name() !== "help");
  const place = {
    path: path.join(" "),
    commands: below.map((one) => ({ name: one.name(), description: one.description() })),
    options: command.options.flatMap((option) =>
      option.long === undefined || option.long === null
        ? []
        : [{ name: option.long, description: option.description }],
    ),
  };
  return [place, ...below.flatMap((one) => placesOf(one, [...path, one.name()]))];
}

/** A script that the shell reads at its start. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program);
  if (shell === "fish") return fish(places);
  const script = bash(places);
  return shell === "bash" ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`;
}

/** Words are walked while they are commands, so that what options take is not mistaken for one. */
function bash(places: readonly Place[]): string {
  const steps = places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const cases = places.map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ name }) => name).join(" ");
    return `    "${path}") words="${words} --help" ;;`;
  });
  return [
    "_muster() {",
    '  local path="" next words="" i',
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    '    next="${path:+$path }${COMP_WORDS[i]}"',
    `    case "$next" in ${steps.join("|")}) path="$next" ;; esac`,
    "  done",
    '  case "$path" in',
    ...cases,
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -o default -F _muster muster",
    "",
  ].join("\n");
}

function fish(places: readonly Place[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
  const lines = places.flatMap(({ path, commands, options }) => {
    const when = quoted(
      path === ""
        ? "__fish_use_subcommand"
        : `string match -rq -- '^muster ${path}( |$)' (commandline -cp | string collect)`,
    );
    return [
      ...commands.map(
        (one) => `complete -c muster -f -n ${when} -a ${one.name} -d ${quoted(one.description)}`,
      ),
      ...options.map(
        (one) => `complete -c muster -n ${when} -l ${one.name.slice(2)} -d ${quoted(one.description)}`,
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}
