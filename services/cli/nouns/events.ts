/** `muster events`: what happens, as it happens: one line an event. */
import type { Command } from "commander";
import { print } from "../output.ts";
import { findTarget, refusalOf, request } from "../rest.ts";
import { does, type Options, queryOf, verb } from "./noun.ts";

export function addEventsNoun(program: Command): void {
  verb(program, "events", "follow what happens; with --json a line of JSON an event")
    .option("--root <id>", "in this project")
    .option("--types <types>", "of these types (comma-separated)")
    .option("--count <n>", "end after so many")
    .action(does(follow));
}

async function follow({ count, ...options }: Options): Promise<void> {
  const stop = new AbortController();
  const path = `/api/v1/events${queryOf(options)}`;
  const accept = "text/event-stream";
  const { response } = await request(await findTarget(), { path }, { signal: stop.signal, accept });
  if (!response.ok || response.body === null)
    throw refusalOf(response.status, (await response.json()) as Record<string, unknown>);
  let left = count === undefined ? Number.POSITIVE_INFINITY : Number(count);
  for await (const event of eventsOf(response.body)) {
    print(options["json"] === true, event, () => lineOf(event));
    left -= 1;
    if (left <= 0) break;
  }
  stop.abort();
}

interface ServerEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

function lineOf({ event, data }: ServerEvent): string {
  const fields = typeof data === "object" && data !== null ? Object.entries(data) : [];
  const text = fields
    .filter(([name]) => name !== "event" && name !== "id")
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [event, ...text].join(" ").replaceAll(/\p{C}+/gu, " ");
}

/** Server-sent events of a stream; comments, which keep it open, are left out. */
export async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let buffer = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    buffer += text.replaceAll("\r\n", "\n");
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const event = parse(buffer.slice(0, end));
      buffer = buffer.slice(end + 2);
      if (event !== null) yield event;
    }
  }
}

function parse(block: string): ServerEvent | null {
  const data: string[] = [];
  let event = "message";
  let id: string | undefined;
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id") id = value;
  }
  if (data.length === 0) return null;
  return { ...(id === undefined ? {} : { id }), event, data: jsonOrText(data.join("\n")) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
