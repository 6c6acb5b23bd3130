/**
 * A small server with the wire of Muster and none of its depth: real sockets, items in
 * memory, and faults on demand. What it is asked is checked with the contract's own
 * schemas, so a client that passes here speaks what the real server understands.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { errorBody, fault, type ErrorCode } from "../../../services/contract/errors.ts";
import { advanceItem } from "../../../services/contract/operations/advance-item.ts";
import { claimItem } from "../../../services/contract/operations/claim-item.ts";
import { createFakeFleet, type FakeFleet } from "./fake-fleet.ts";

interface FakeCall {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  /** `claim`, `refresh`, `release`, or the trigger of a transition. */
  readonly what: string;
  readonly headers: IncomingMessage["headers"];
}

/** What to do with a call instead of answering it. */
type Fault =
  | { readonly kind: "drop" }
  /** Does what was asked, and loses the answer. */
  | { readonly kind: "dropAnswer" }
  | { readonly kind: "http"; readonly status: number; readonly body?: string; readonly retryAfter?: string }
  | { readonly kind: "refuse"; readonly code: ErrorCode; readonly retryAfterMs?: number }
  /** Answers nothing; `acted` says whether it did what was asked. */
  | { readonly kind: "hang"; readonly acted: boolean };

export interface FakeMuster extends AsyncDisposable {
  readonly url: string;
  readonly fleet: FakeFleet;
  readonly calls: FakeCall[];
  /** Sockets that are open now. */
  readonly sockets: ReadonlySet<unknown>;
  /** Decides for each call; undefined means a normal answer. */
  fault: (call: FakeCall) => Fault | undefined;
  /** Resolves with the next call that fits, or with one that was already made. */
  seen(fits: (call: FakeCall) => boolean): Promise<FakeCall>;
  close(): Promise<void>;
}

export async function startFakeMuster(): Promise<FakeMuster> {
  const fleet = createFakeFleet();
  const calls: FakeCall[] = [];
  const watchers = new Set<() => void>();
  const sockets = new Set<Socket>();

  const server: Server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => send(response, 500, { crashed: String(error) }));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = JSON.parse(await bodyOf(request)) as Message;
    const problem = wireProblem(request, message);
    if (problem !== null)
      return send(response, 400, { jsonrpc: "2.0", id: null, error: { code: -32020, message: problem } });
    const { name, arguments: input } = message.params;
    const call = { tool: name, input, what: whatOf(name, input), headers: request.headers };
    const todo = fake.fault(call);
    calls.push(call);
    for (const watcher of watchers) watcher();
    if (todo?.kind === "drop") return void request.socket.destroy();
    if (todo?.kind === "hang" && !todo.acted) return;
    if (todo?.kind === "http") {
      response.writeHead(
        todo.status,
        todo.retryAfter === undefined ? {} : { "retry-after": todo.retryAfter },
      );
      return void response.end(todo.body ?? "<html>bad gateway</html>");
    }
    if (todo?.kind === "refuse") {
      const options = todo.retryAfterMs === undefined ? {} : { retryAfterMs: todo.retryAfterMs };
      return sendError(response, message.id, errorBody(fault(todo.code, "refused by the test", options)));
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const result = await run(name, input, gone.signal);
    if (todo?.kind === "dropAnswer") return void request.socket.destroy();
    if (todo?.kind === "hang") return;
    send(response, 200, {
      jsonrpc: "2.0",
      id: message.id,
      result: { resultType: "complete", content: [], structuredContent: result },
    });
  }

  function run(name: string, input: Record<string, unknown>, gone: AbortSignal): Promise<object> {
    if (name === "claim_item") return fleet.claimItem(claimItem.input.parse(input), gone);
    if (name === "advance_item") return Promise.resolve(fleet.advanceItem(advanceItem.input.parse(input)));
    return Promise.resolve({ echoed: input });
  }

  const fake: FakeMuster = {
    url: `http://127.0.0.1:${port}`,
    fleet,
    calls,
    sockets,
    fault: () => undefined,
    seen(fits) {
      return new Promise((resolve) => {
        const look = (): void => {
          const call = calls.find(fits);
          if (call === undefined) return;
          watchers.delete(look);
          resolve(call);
        };
        watchers.add(look);
        look();
      });
    },
    async close() {
      fleet.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
    [Symbol.asyncDispose]: () => fake.close(),
  };
  return fake;
}

interface Message {
  readonly id: number;
  readonly method: string;
  readonly params: {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
    readonly _meta: Record<string, unknown>;
  };
}

/** What the specification of 2026-07-28 makes a server refuse. */
function wireProblem(request: IncomingMessage, message: Message): string | null {
  const { headers } = request;
  const meta = message.params._meta;
  if (request.method !== "POST") return "not a POST";
  if (!request.url?.startsWith("/mcp")) return `no such path: ${request.url}`;
  if (headers["mcp-protocol-version"] !== "2026-07-28") return "wrong MCP-Protocol-Version";
  if (meta["io.modelcontextprotocol/protocolVersion"] !== "2026-07-28") return "wrong version in _meta";
  if (meta["io.modelcontextprotocol/clientCapabilities"] === undefined) return "no capabilities in _meta";
  if (headers["mcp-method"] !== message.method || message.method !== "tools/call") return "wrong Mcp-Method";
  if (headers["mcp-name"] !== message.params.name) return "wrong Mcp-Name";
  return null;
}

function whatOf(tool: string, input: Record<string, unknown>): string {
  if (tool === "advance_item") {
    const [first] = (input["transitions"] ?? [input]) as { trigger: string }[];
    return first?.trigger ?? "?";
  }
  if (tool !== "claim_item") return tool;
  if (input["claims"] !== undefined) return "claim";
  return input["refreshes"] === undefined ? "release" : "refresh";
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return text;
}

function sendError(response: ServerResponse, id: number, error: object): void {
  const result = {
    resultType: "complete",
    isError: true,
    content: [{ type: "text", text: "refused" }],
    structuredContent: { error },
  };
  send(response, 200, { jsonrpc: "2.0", id, result });
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
