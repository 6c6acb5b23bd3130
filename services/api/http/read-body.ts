/**
 * Reads one request body, once, within a limit.
 *
 * The limit counts the bytes that arrive, not the length that is declared. Past it
 * the rest is discarded instead of kept, and the caller answers at once: see
 * `refuseBody` in `reply.ts` for why the connection lives a moment longer.
 */
import type { IncomingMessage } from "node:http";

export type BodyRead =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too_large" }
  /** The client hung up or the stream failed: there is nobody to answer. */
  | { readonly kind: "gone" };

/** Resolves with the body as text; never rejects. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<BodyRead> {
  if (Number(request.headers["content-length"]) > limitBytes) {
    request.resume();
    return Promise.resolve({ kind: "too_large" });
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let received = 0;
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > limitBytes) {
        chunks = [];
        resolve({ kind: "too_large" });
      } else {
        chunks.push(chunk);
      }
    });
    request.once("end", () => resolve({ kind: "text", text: decode(chunks) }));
    request.once("error", () => resolve({ kind: "gone" }));
    request.once("close", () => resolve({ kind: "gone" }));
  });
}

function decode(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks).toString();
}
