/**
 * What all commands of the form noun, verb have in common: `--json`, pages, `--watch`, and the
 * question before something is destroyed.
 */
import { createInterface } from "node:readline/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import type { ElementFailure } from "../../contract/answers.ts";
import { EXIT } from "../../contract/errors.ts";
import { ExitError } from "../../runtime/exit.ts";
import { runCommand } from "../failure.ts";
import { oneLine, print, say, table } from "../output.ts";
import { callOk, findTarget, type RestCall, type Target } from "../rest.ts";

/** Options as commander hands them over. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

const API = "/api/v1";
/** Options that are for this program, and no filter of the server's. */
const OURS = new Set(["json", "watch", "yes", "dryRun"]);
const WATCH_SECONDS = 2;

/** A verb that knows `--json`, as all of them do. */
export function verb(noun: Command, name: string, description: string): Command {
  return noun.command(name).description(description).option("--json", "print JSON");
}

/** One that lists: pages, and `--watch`. */
export function lists(noun: Command, name: string, description: string): Command {
  return watched(verb(noun, name, description))
    .option("--limit <n>", "at most so many")
    .option("--offset <n>", "after that many");
}

export function watched(command: Command): Command {
  return command.option(
    "--watch [seconds]",
    "read again and again until Ctrl-C; with --json a line whenever something changed",
    secondsOf,
  );
}

function secondsOf(text: string): string {
  if (Number(text) > 0) return text;
  throw new InvalidArgumentError("It must be a number of seconds above 0.");
}

/** One that takes something from others: it asks first, and has to be told why. */
export function destroys(noun: Command, name: string, description: string): Command {
  return verb(noun, name, description)
    .requiredOption("--reason <text>", "why; kept with the history")
    .option("--yes", "do not ask");
}

/** Runs what a verb does, with its exit code and its error as every command has them. */
export function does<A extends readonly unknown[]>(
  work: (options: Options, ...args: A) => Promise<number | void>,
): (...args: [...A, Options, Command]) => Promise<void> {
  return async (...all) => {
    const options = all.at(-2) as Options;
    const args = all.slice(0, -2) as unknown as A;
    await runCommand(options["json"] === true, () => work(options, ...args));
  };
}

/** The filters among the options, as a query. */
export function queryOf(options: Options): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !OURS.has(name)) query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

export async function call(rest: RestCall, target?: Target): Promise<Record<string, unknown>> {
  return await callOk(target ?? (await findTarget()), { ...rest, path: `${API}${rest.path}` });
}

/** Reads, and shows what was read; again and again with `--watch`. Answers it. */
export async function show<T>(path: string, options: Options, text: (answer: T) => string): Promise<T> {
  return await showRead(options, async (target) => (await call({ path }, target)) as T, text);
}

export async function showRead<T>(
  options: Options,
  read: (target: Target) => Promise<T>,
  text: (answer: T) => string,
): Promise<T> {
  const target = await findTarget();
  const json = options["json"] === true;
  const { watch } = options;
  if (watch === undefined) {
    const answer = await read(target);
    print(json, answer, () => text(answer));
    return answer;
  }
  const everyMs = (watch === true ? WATCH_SECONDS : Number(watch)) * 1_000;
  for (let before = ""; ; await pause(everyMs)) {
    const answer = await read(target);
    const now = JSON.stringify(answer);
    if (now !== before) {
      // A terminal shows the present state; a pipe gets one after the other.
      if (!json && process.stdout.isTTY) process.stdout.write("\u001b[2J\u001b[H");
      print(json, answer, () => text(answer));
    }
    before = now;
  }
}

/** Says that a list goes on, where a person reads it. */
export function more(
  list: { readonly hasMore: boolean; readonly offset: number },
  shown: number,
  options: Options,
): void {
  if (list.hasMore && options["json"] !== true) say(`There are more: add --offset ${list.offset + shown}.`);
}

/**
 * Asks before something is destroyed.
 * @throws ExitError when the answer is no, and when nobody is there to ask
 */
export async function confirm(question: string, options: Options): Promise<void> {
  if (options["yes"] === true) return;
  if (!process.stdin.isTTY)
    throw new ExitError(EXIT.usage, `${question} Nobody is there to answer: add --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new ExitError(EXIT.refused, "Nothing was done.");
  } finally {
    terminal.close();
  }
}

interface Done {
  readonly itemId: string;
  readonly role: string;
  readonly title: string;
}

interface BulkAnswer {
  readonly items?: readonly Done[];
  readonly revoked?: readonly Done[];
  readonly matched: number;
  readonly failed: number;
  readonly failures?: readonly ElementFailure[] | undefined;
  readonly hasMore: boolean;
}

/** Counts what a bulk call means, asks, and does it. Ends with 4 if something of it could not be done. */
export async function bulk(
  path: string,
  body: Readonly<Record<string, unknown>>,
  options: Options,
  ask: (count: number) => string,
): Promise<number> {
  const target = await findTarget();
  const json = options["json"] === true;
  const run = async (more: object): Promise<BulkAnswer> =>
    (await call({ method: "POST", path, body: { ...body, ...more } }, target)) as unknown as BulkAnswer;
  const counted = await run({ dryRun: true });
  if (options["dryRun"] === true || (counted.matched === 0 && body["itemIds"] === undefined)) {
    print(json, counted, () => (counted.matched === 0 ? "Nothing matches." : `${counted.matched} match.`));
    return EXIT.ok;
  }
  await confirm(ask(counted.matched), options);
  const done = await run({});
  print(json, done, () => tableOf(done));
  for (const failure of json ? [] : (done.failures ?? [])) say(`${failure.id ?? ""}: ${failure.error}`);
  if (done.hasMore && !json) say("There are more: run the command again.");
  return done.failed > 0 ? EXIT.refused : EXIT.ok;
}

function tableOf({ items, revoked }: BulkAnswer): string {
  const rows = (items ?? revoked ?? []).map((one) => [one.itemId.slice(0, 8), one.role, oneLine(one.title)]);
  return table(["ITEM", "ROLE", "TITLE"], rows);
}

/** Named items, or a filter, or `--all`: as the bulk operations take them. */
export function setOf(
  itemIds: readonly string[],
  options: Options,
  filters: readonly string[],
): Record<string, unknown> {
  const filter = Object.fromEntries(
    filters.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  return {
    ...(itemIds.length > 0 ? { itemIds } : filter),
    ...(options["all"] === true ? { all: true } : {}),
    reason: options["reason"],
  };
}
