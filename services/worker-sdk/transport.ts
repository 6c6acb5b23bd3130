/**
 * One HTTP exchange. The default speaks through Node's own `http` with an agent of
 * ours, because the sockets of the global `fetch` cannot be closed by who opened
 * them: a finished worker would hang until they time out.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

interface TransportRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

export interface Transport {
  /** Rejects when there was no complete answer, with the signal's reason when that was why. */
  send(request: TransportRequest): Promise<TransportResponse>;
  close(): void;
}

/** Answers are bounded on the server; more than this is not Muster. */
const ANSWER_SIZE_MAX_BYTES = 64 * 1024 * 1024;

export function createHttpTransport(): Transport {
  const http = new HttpAgent({ keepAlive: true });
  const https = new HttpsAgent({ keepAlive: true });
  return {
    send: (request) => sendHttp(request, request.url.protocol === "https:" ? https : http),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Wraps a `fetch` of the caller's; its connections are the caller's to close. */
export function createFetchTransport(fetchFunc: typeof fetch): Transport {
  return {
    async send({ url, headers, body, signal }) {
      const response = await fetchFunc(url, { method: "POST", headers, body, signal, redirect: "error" });
      const text = await response.text();
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body: text,
      };
    },
    close() {},
  };
}

function sendHttp(request: TransportRequest, agent: HttpAgent | HttpsAgent): Promise<TransportResponse> {
  const { url, headers, body, signal } = request;
  const start = url.protocol === "https:" ? httpsRequest : httpRequest;
  const length = { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    // The reason tells a time-out from a stop; Node's own AbortError hides it.
    const fail = (error: unknown): void => reject(signal.aborted ? (signal.reason as Error) : error);
    const outgoing = start(
      url,
      { method: "POST", agent, headers: { ...headers, ...length }, signal },
      (incoming) => {
        readAnswer(incoming).then(resolve, fail);
      },
    );
    outgoing.on("error", fail);
    outgoing.end(body);
  });
}

async function readAnswer(incoming: IncomingMessage): Promise<TransportResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ANSWER_SIZE_MAX_BYTES)
      throw new Error(`The answer is larger than ${ANSWER_SIZE_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return {
    status: incoming.statusCode ?? 0,
    header: (name) => {
      const value = incoming.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: Buffer.concat(chunks).toString("utf8"),
  };
}
