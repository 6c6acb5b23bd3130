/** Who is on the other end of an MCP request: its session, and what the client calls itself. */
import { CLIENT_INFO_META_KEY, INVALID_REQUEST, isInitializeRequest } from "@modelcontextprotocol/server";
import type { Exchange } from "../http/exchange.ts";
import { clipLabel, readPlainSession, type ClientLabel, type Sessions } from "../session.ts";

export interface Identity {
  readonly session: string | null;
  readonly client: ClientLabel | null;
}

/** A session that cannot be used: answered, and nothing else happens. */
export interface SessionFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** What clients of the 2025 era know as "initialize again". */
const SESSION_NOT_FOUND = -32001;

/** The 2025 era: a signed `Mcp-Session-Id`, which also carries what the client said at `initialize`. */
export function legacyIdentity(
  exchange: Exchange,
  body: unknown,
  sessions: Sessions,
): Identity | SessionFault {
  const named = namedSession(exchange);
  if (named !== null && "message" in named) return named;
  const header = exchange.header("mcp-session-id");
  // An `initialize` starts anew, whatever it still carries from before.
  if (header === undefined || isInitializeRequest(body)) return { session: null, client: null, ...named };
  const verified = sessions.verify(header);
  if (verified === null) {
    return {
      status: 404,
      code: SESSION_NOT_FOUND,
      message: "Session not found: initialize again, and pass your workerId to keep your claim.",
    };
  }
  return { ...verified, ...named };
}

/** The 2026 era: no sessions (a stray `Mcp-Session-Id` means nothing), the client's name in every request. */
export function modernIdentity(exchange: Exchange, body: unknown): Identity | SessionFault {
  const named = namedSession(exchange);
  if (named !== null && "message" in named) return named;
  return { session: null, client: modernClient(body), ...named };
}

/** The session that a program of ours gives for the client it speaks for. */
function namedSession(exchange: Exchange): { readonly session: string } | SessionFault | null {
  const header = exchange.header("muster-session");
  if (header === undefined) return null;
  const session = readPlainSession(header);
  if (session !== null) return { session };
  const message = "Muster-Session must be 1 to 200 characters of A-Z a-z 0-9 . _ : @ / -";
  return { status: 400, code: INVALID_REQUEST, message };
}

function modernClient(body: unknown): ClientLabel | null {
  const meta = (body as { params?: { _meta?: Record<string, unknown> } } | null)?.params?._meta;
  const label = meta?.[CLIENT_INFO_META_KEY] as Partial<ClientLabel> | undefined;
  return typeof label?.name === "string" && typeof label.version === "string"
    ? clipLabel({ name: label.name, version: label.version })
    : null;
}
