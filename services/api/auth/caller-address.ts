/** Which address a request comes from. */
import type { Exchange } from "../http/exchange.ts";

/**
 * That of the connection; behind proxies of ours, what the outermost of them wrote down. Whatever
 * stands before that in `X-Forwarded-For` was sent by the client itself and says nothing.
 */
export function addressOf(exchange: Exchange, trustedProxies: number): string {
  const direct = exchange.request.socket.remoteAddress ?? "unknown";
  if (trustedProxies === 0) return direct;
  const hops = (exchange.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  return hops.at(-trustedProxies) || direct;
}
