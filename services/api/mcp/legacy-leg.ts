/**
 * One exchange with a client of the 2025 era, answered as JSON. The SDK's own leg
 * answers every call as an event stream, which costs twice the time and says nothing
 * more: Muster sends no progress.
 */
import { WebStandardStreamableHTTPServerTransport, type Server } from "@modelcontextprotocol/server";

/** Serves the request with a server made for it; resolves with null when the client went away first. */
export async function serveLegacy(server: Server, request: Request, body: unknown): Promise<Response | null> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const gone = whenAborted(request.signal);
  try {
    // The transport never answers once its client has gone; without the race this frame would stay for ever.
    return await Promise.race([transport.handleRequest(request, { parsedBody: body }), gone.promise]);
  } finally {
    gone.forget();
    await server.close();
  }
}

function whenAborted(signal: AbortSignal): { readonly promise: Promise<null>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<null>();
  const onAbort = (): void => resolve(null);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { promise, forget: () => signal.removeEventListener("abort", onAbort) };
}
