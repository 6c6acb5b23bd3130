/** `muster work`: runs a program for each item. Exit 0 moves the item on, 75 hands it back, anything else fails the attempt. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { z } from "zod";
import { EXIT, isMusterError } from "../contract/errors.ts";
import { CAPABILITIES_MAX, TTL_MAX_SECONDS, TTL_MIN_SECONDS, WAIT_MAX_SECONDS } from "../contract/limits.ts";
import { claimItem } from "../contract/operations/claim-item.ts";
import { parseInput } from "../contract/parse.ts";
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
  slots: wholeNumber(1, 1_000),
  ttl: wholeNumber(TTL_MIN_SECONDS, TTL_MAX_SECONDS),
  wait: wholeNumber(0, WAIT_MAX_SECONDS),
});

function wholeNumber(min: number, max: number) {
  const wanted = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(wanted).int(wanted).min(min, wanted).max(max, wanted);
}

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
  checkSelector(raw);
  // As it was written: the server parses it again.
  return raw;
}

/** Says what the server would say to a claim with this selector, before anything is started. */
function checkSelector(selector: Record<string, unknown>): void {
  const actor = { id: "muster", kind: "external" };
  try {
    parseInput(claimItem, { actor, requestId: randomUUID(), claims: [{ selector }] });
  } catch (error) {
    if (!isMusterError(error)) throw error;
    throw usage(error.message.replace("claim_item: ", "").replaceAll("claims[0].selector", "--selector"));
  }
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
  const faults = parsed.error.issues.map(({ path: [name], message }) => `--${String(name)} ${message}`);
  throw usage([...new Set(faults)].join("\n"));
}

function usage(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}
