/** `muster work`: runs a program for each item. Exit 0 moves the item on, 75 hands it back, anything else fails the attempt. */
import { hostname } from "node:os";
import { z } from "zod";
import { EXIT } from "../contract/errors.ts";
import { selector as selectorSchema } from "../contract/filters.ts";
import { CAPABILITIES_MAX, TTL_MAX_SECONDS, TTL_MIN_SECONDS, WAIT_MAX_SECONDS } from "../contract/limits.ts";
import { clientConfig, readConfig } from "../runtime/config.ts";
import { ExitError } from "../runtime/exit.ts";
import { runCommandWorker } from "../worker-sdk/command-worker.ts";
import type { Selector } from "../worker-sdk/shapes.ts";
import { findServer } from "./find-server.ts";
import { print, say } from "./output.ts";

export interface WorkOptions {
  readonly selector: readonly string[];
  readonly slots: string;
  readonly agent?: string;
  readonly ttl: string;
  readonly wait: string;
  readonly capabilities?: string;
  readonly untilEmpty: boolean;
  readonly json: boolean;
}

const numbers = z.object({
  slots: z.coerce.number("is no number").int().min(1).max(1_000),
  ttl: z.coerce.number("is no number").int().min(TTL_MIN_SECONDS).max(TTL_MAX_SECONDS),
  wait: z.coerce.number("is no number").int().min(0).max(WAIT_MAX_SECONDS),
});

export async function work(command: string, args: readonly string[], options: WorkOptions): Promise<void> {
  const selector = parseSelector(options.selector);
  const { slots, ttl, wait } = parseNumbers(options);
  const capabilities = (options.capabilities ?? "").split(",").filter((name) => name.trim() !== "");
  if (capabilities.length > CAPABILITIES_MAX)
    throw usage(`--capabilities names more than ${CAPABILITIES_MAX}.`);
  const config = readConfig(clientConfig);
  const report = await runCommandWorker({
    urls: await findServer(config),
    token: config.token,
    agent: { id: options.agent ?? `${hostname()}-worker`, kind: "subagent" },
    selector,
    slots,
    ttlSeconds: ttl,
    waitSeconds: wait,
    capabilities,
    untilEmpty: options.untilEmpty,
    command,
    args,
    // Standard output is for the report alone where a program reads it.
    ...(options.json ? { onLine: (_stream, item, line) => say(`[${item.id.slice(0, 8)}] ${line}`) } : {}),
  });
  print(options.json, report, () => {
    const { completed, handedBack, failed, lost } = report;
    return `${completed} completed, ${handedBack} handed back, ${failed} failed, ${lost} lost`;
  });
}

/** JSON, or `name=value` pairs: `--selector tags=build --selector orderBy=oldest`. */
export function parseSelector(parts: readonly string[]): Selector {
  const raw: Record<string, unknown> = {};
  for (const part of parts)
    Object.assign(raw, part.trimStart().startsWith("{") ? parseJson(part) : parsePair(part));
  const parsed = selectorSchema.safeParse(raw);
  if (!parsed.success) throw usage(`The selector is not valid:\n${z.prettifyError(parsed.error)}`);
  // As it was written: the server parses it again.
  return raw;
}

function parseJson(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw usage(`The selector is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsePair(text: string): Record<string, unknown> {
  const mark = text.indexOf("=");
  if (mark < 1) throw usage(`"${text}" is no selector: write name=value, or JSON such as {"tags":"build"}`);
  const [name, value] = [text.slice(0, mark), text.slice(mark + 1)];
  if (value === "true" || value === "false") return { [name]: value === "true" };
  return { [name]: name === "complexityMax" ? Number(value) : value };
}

function parseNumbers(options: WorkOptions): z.output<typeof numbers> {
  const parsed = numbers.safeParse(options);
  if (parsed.success) return parsed.data;
  throw usage(`An option is not valid:\n${z.prettifyError(parsed.error)}`);
}

function usage(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}
