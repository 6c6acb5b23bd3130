/** Writes a web `Response`, which the MCP SDK answers with, to a node:http response. */
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import { sendJson } from "./reply.ts";

/** Sends everything in one write, except event streams, which are passed on as they come. */
export async function sendWebResponse(
  response: ServerResponse,
  answer: Response,
  headers: Record<string, string> = {},
): Promise<void> {
  const all = { ...Object.fromEntries(answer.headers), ...headers };
  if (answer.body === null) {
    if (response.destroyed) return;
    const hasNone = answer.status === 204 || answer.status === 304;
    response.writeHead(answer.status, hasNone ? all : { ...all, "content-length": 0 });
    response.end();
  } else if (answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    await pipeEvents(response, answer.status, all, answer.body);
  } else {
    sendJson(response, answer.status, await answer.text(), all);
  }
}

/** A slow reader holds back the stream instead of filling our memory. */
async function pipeEvents(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const reader = body.getReader();
  const stop = new AbortController();
  response.once("close", () => {
    stop.abort();
    reader.cancel().catch(() => {});
  });
  if (response.destroyed) {
    await reader.cancel();
    return;
  }
  response.writeHead(status, headers);
  response.flushHeaders();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || stop.signal.aborted) break;
    if (!response.write(value)) await once(response, "drain", { signal: stop.signal }).catch(() => {});
  }
  response.end();
}
